package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

var savedName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
})

// saved is what "follow --resume NAME" keeps: what is followed and how far it
// came. Without a name nothing is kept.
type saved struct {
	path      string
	Query     feedring.Query
	Peers     []string         // that were named to ask through
	Network   string           // of those peers; empty: not known
	Via       string           // through which peer the network is asked; empty: directly
	LastEvent string           // its id, of a running peer's API
	Resume    *client.Resume   // over the network
	Unprinted []feedring.Entry // of the first answer
	fresh     bool             // nothing was saved before

	mu      sync.Mutex // of LastEvent, Resume, Unprinted and all below
	printed printLog
	written time.Time
	due     *time.Timer // of a write; nil: there is nothing to write
}

// saveEvery is the least between two writes while following. What is printed
// between them is in a file of its own.
const saveEvery = time.Second

type savedJSON struct {
	Theme    feedring.Theme   `json:"theme,omitempty"`
	Provider string           `json:"provider,omitempty"`
	Words    string           `json:"words,omitempty"`
	Since    time.Time        `json:"since,omitzero"`
	Until    time.Time        `json:"until,omitzero"`
	Limit    int              `json:"limit,omitempty"`
	Peers    []string         `json:"peers,omitempty"`
	Net      string           `json:"net,omitempty"`
	Last     string           `json:"last,omitempty"`
	Network  *client.Resume   `json:"network,omitempty"`
	Rest     []feedring.Entry `json:"rest,omitempty"`
	Stem     bool             `json:"stem,omitempty"`
	Vouched  bool             `json:"vouched,omitempty"`
	Printed  []string         `json:"printed,omitempty"` // and not behind the cursor yet
	Via      string           `json:"via,omitempty"`
}

// typedParts are the parts of a query that the command line names.
type typedParts struct{ what, until, limit bool }

// differs reports whether the command line asks for something else than was
// saved. --since is not compared: the cursor has passed it, and an age names
// another moment each time.
func (s typedParts) differs(q feedring.Query, old *savedJSON) bool {
	return s.what && (q.Theme != old.Theme || q.Provider != old.Provider || q.Words != old.Words || q.Stem != old.Stem || q.Vouched != old.Vouched) ||
		s.until && !q.Until.Equal(old.Until) || s.limit && q.Limit != old.Limit
}

// String is what was saved, as flags.
func (s *savedJSON) String() string {
	var b strings.Builder
	flag := func(name, value string) {
		if value != "" {
			b.WriteString(" --" + name + " " + show.Printable(value))
		}
	}
	flag("theme", string(s.Theme))
	flag("provider", s.Provider)
	if !s.Since.IsZero() {
		flag("since", s.Since.Format(time.RFC3339))
	}
	if !s.Until.IsZero() {
		flag("until", s.Until.Format(time.RFC3339))
	}
	if s.Limit > 0 && s.Limit != feedring.DefaultLimit {
		flag("limit", strconv.Itoa(s.Limit))
	}
	if s.Stem {
		b.WriteString(" --stem")
	}
	if s.Vouched {
		b.WriteString(" --vouched-only")
	}
	if s.Words != "" {
		b.WriteString(" " + show.Printable(s.Words))
	}
	return strings.TrimSpace(b.String())
}

// openSaved reads what is kept under a name. The rest of the command line must
// agree with it. A new name needs something to follow: alone it is more likely a
// typing error than a wish for everything.
func (a *commands) openSaved(name string, q feedring.Query, typed typedParts) (*saved, error) {
	s := &saved{Query: q, fresh: true}
	if name == "" {
		return s, nil
	}
	if !savedName().MatchString(name) {
		return nil, exit.Usage("--resume %q: use letters, digits, dots and hyphens", name)
	}
	s.path = filepath.Join(a.Data, "follow", name+".json")
	s.printed.path = filepath.Join(a.Data, "follow", name+".printed")
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		if q.Theme == "" && q.Provider == "" && q.Words == "" {
			return nil, exit.Usage("--resume %s: nothing is saved under that name: check it, or give a theme, a provider or words to begin", name)
		}
		return s, nil
	}
	var old savedJSON
	if err == nil {
		err = json.Unmarshal(text, &old)
	}
	if err != nil {
		return nil, exit.Failed(fmt.Errorf("--resume %s: %w: remove %s to begin again", name, err, s.path))
	}
	if typed.differs(q, &old) {
		return nil, exit.Usage("--resume %s follows %s: name nothing but it to go on, or choose another name", name, &old)
	}
	s.Query = feedring.Query{
		Theme: old.Theme, Provider: old.Provider, Words: old.Words, Since: old.Since, Until: old.Until, Limit: old.Limit,
		Stem: old.Stem, Vouched: old.Vouched,
	}
	if err := s.printed.load(old.Printed); err != nil {
		return nil, exit.Failed(fmt.Errorf("--resume %s: %w", name, err))
	}
	s.fresh = false
	s.Peers, s.Network, s.LastEvent, s.Resume, s.Unprinted, s.Via = old.Peers, old.Net, old.Last, old.Network, old.Rest, old.Via
	return s, nil
}

// knownPeers are the peers met the last time.
func (s *saved) knownPeers() []feedring.PeerInfo {
	if s.Resume == nil {
		return nil
	}
	return s.Resume.Peers
}

// save takes a follower's position and writes it.
func (s *saved) save(r client.Resume) {
	s.mu.Lock()
	s.Resume, s.printed.current = &r, nil
	s.mu.Unlock()
	if err := s.write(); err != nil {
		slog.Warn("--resume: not kept", "err", err) // the end of the command says it again
	}
}

// setCursor takes the id of the last event that was printed. It is on disk within
// a second.
func (s *saved) setCursor(id string) {
	if id == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.LastEvent, s.printed.current = id, nil
	s.writeSoon()
}

// saveFirst takes a first answer that is about to be printed; setCursor sets the
// position after it. It returns when both are on disk.
func (s *saved) saveFirst(first []feedring.Entry, setCursor func()) error {
	s.mu.Lock()
	s.Unprinted = slices.Clone(first)
	setCursor()
	s.mu.Unlock()
	return s.write()
}

// printedOne notes that the first unprinted entry was printed.
func (s *saved) printedOne() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Unprinted, s.printed.current = s.Unprinted[1:], nil
	s.writeSoon()
}

// writeSoon has the state written within a second. The lock must be held.
func (s *saved) writeSoon() {
	if s.path == "" || s.due != nil {
		return
	}
	var due *time.Timer
	due = time.AfterFunc(saveEvery-min(saveEvery, time.Since(s.written)), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.due != due { // written meanwhile: the file may be another run's by now
			return
		}
		if err := s.writeNow(); err != nil {
			slog.Warn("--resume: not kept", "err", err) // the end of the command says it again
		}
	})
	s.due = due
}

// write puts the state on disk, whole or not at all.
func (s *saved) write() error {
	if s.path == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeNow()
}

// writeNow is write. The lock must be held.
func (s *saved) writeNow() error {
	if s.due != nil {
		s.due.Stop()
	}
	s.written, s.due = time.Now(), nil
	text, err := json.Marshal(savedJSON{
		s.Query.Theme, s.Query.Provider, s.Query.Words, s.Query.Since, s.Query.Until, s.Query.Limit, s.Peers, s.Network, s.LastEvent, s.Resume, s.Unprinted,
		s.Query.Stem, s.Query.Vouched, s.printed.keys(), s.Via,
	})
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	fresh := s.path + ".new"
	if err := writeSynced(fresh, text); err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	err = os.Rename(fresh, s.path)
	if err == nil {
		err = s.printed.written()
	}
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	return nil
}

// writeSynced writes a private file and waits until the disk has it. Renamed
// before that, it could be empty after a loss of power.
func writeSynced(path string, value []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(value); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

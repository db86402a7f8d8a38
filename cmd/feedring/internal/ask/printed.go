package ask

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/feedring/feedring"
)

// printLog is what was printed and lies behind no saved cursor yet, so that who is
// killed repeats at most the entry that was being printed. A line of a file beside
// the saved state is added after each entry, before the next one is printed; when
// the state is written the file begins anew. It is guarded by saved's mutex.
type printLog struct {
	path  string
	file  *os.File
	again map[string]bool // by earlier runs, and not met again in this one
	since []string        // in this run, since the cursor moved
}

// maxPrinted bounds what is kept of earlier runs.
const maxPrinted = 10_000

// load reads what earlier runs printed: as their state says, and since that was
// written.
func (p *printLog) load(state []string) error {
	p.again = make(map[string]bool)
	for _, key := range state {
		p.again[key] = true
	}
	f, err := os.Open(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() && len(p.again) < maxPrinted {
		p.again[lines.Text()] = true
	}
	return lines.Err()
}

// was reports whether an earlier run printed it.
func (p *printLog) was(key string) bool {
	if !p.again[key] {
		return false
	}
	delete(p.again, key)
	p.since = append(p.since, key)
	return true
}

// add notes what was printed just now.
func (p *printLog) add(key string) (err error) {
	p.since = append(p.since, key)
	if p.file == nil {
		if p.file, err = os.OpenFile(p.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return err
		}
	}
	_, err = p.file.WriteString(key + "\n")
	return err
}

// behind is all of it, for the state.
func (p *printLog) behind() []string {
	keys := append([]string(nil), p.since...)
	for key := range p.again {
		keys = append(keys, key)
	}
	return keys
}

// written begins the file anew: the state on disk has it all.
func (p *printLog) written() error {
	if p.file != nil {
		return p.file.Truncate(0)
	}
	if err := os.Remove(p.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// once calls print unless an earlier run printed what the key names, and notes
// that it was printed.
func (s *saved) once(key string, print func() error) (skipped bool, err error) {
	if s.path == "" {
		return false, print()
	}
	s.mu.Lock()
	skipped = s.printed.was(key)
	begins := s.written.IsZero()
	s.mu.Unlock()
	if skipped {
		return true, nil
	}
	if begins { // the file belongs to a state that is on disk, and to this run
		if err := s.write(); err != nil {
			return false, err
		}
	}
	if err := print(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.printed.add(key); err != nil {
		return false, fmt.Errorf("--resume: %w", err)
	}
	return false, nil
}

// caughtUp forgets what earlier runs printed: all that came meanwhile was met.
func (s *saved) caughtUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.printed.again = nil
}

// keyOf names an entry, and with versions this version of it.
func keyOf(e *feedring.Entry, versions bool) string {
	if !versions {
		return string(e.ID)
	}
	text := strings.Join([]string{e.Title, e.URL, e.Summary, e.ContentHTML, e.Updated.String()}, "\x00")
	sum := sha256.Sum256([]byte(text))
	return string(e.ID) + " " + hex.EncodeToString(sum[:8])
}

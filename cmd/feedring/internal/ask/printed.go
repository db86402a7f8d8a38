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

// printLog records what was printed after the saved cursor, so that a run that is
// killed repeats at most the entry that it was printing. Each printed entry adds a
// line to a file beside the saved state; writing the state empties that file. The
// mutex of saved guards it.
type printLog struct {
	path    string
	file    *os.File
	earlier map[string]bool // by earlier runs, and not met again in this one
	current []string        // in this run, since the cursor moved
}

// maxPrinted bounds what is kept of earlier runs.
const maxPrinted = 10_000

// load reads what earlier runs printed: as their state says, and since that was
// written.
func (p *printLog) load(state []string) error {
	p.earlier = make(map[string]bool)
	for _, key := range state {
		p.earlier[key] = true
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
	for lines.Scan() && len(p.earlier) < maxPrinted {
		p.earlier[lines.Text()] = true
	}
	return lines.Err()
}

// wasPrinted reports whether an earlier run printed it.
func (p *printLog) wasPrinted(key string) bool {
	if !p.earlier[key] {
		return false
	}
	delete(p.earlier, key)
	p.current = append(p.current, key)
	return true
}

// add notes what was printed just now.
func (p *printLog) add(key string) (err error) {
	p.current = append(p.current, key)
	if p.file == nil {
		if p.file, err = os.OpenFile(p.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return err
		}
	}
	_, err = p.file.WriteString(key + "\n")
	return err
}

// keys are all of them, for the state.
func (p *printLog) keys() []string {
	keys := append([]string(nil), p.current...)
	for key := range p.earlier {
		keys = append(keys, key)
	}
	return keys
}

// written empties the file: the state on disk has everything.
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
	skipped = s.printed.wasPrinted(key)
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

// caughtUp forgets what earlier runs printed: none of it comes again.
func (s *saved) caughtUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.printed.earlier = nil
}

// keyOf names an entry, and with versions this version of it.
func keyOf(e *feedring.Entry, versions bool) string {
	if !versions {
		if e.Supersedes { // another copy was printed before
			return string(e.ID) + " " + string(e.Publisher)
		}
		return string(e.ID)
	}
	text := strings.Join([]string{e.Title, e.URL, e.Summary, e.ContentHTML, e.Updated.String()}, "\x00")
	sum := sha256.Sum256([]byte(text))
	return string(e.ID) + " " + hex.EncodeToString(sum[:8])
}

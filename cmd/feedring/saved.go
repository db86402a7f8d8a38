package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

var savedName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// saved is what "follow --resume NAME" keeps: what is followed and how far it
// came. Without a name nothing is kept.
type saved struct {
	path  string
	Query feedring.Query
	Entry []string       // the peers that were named to ask through
	Last  string         // the last event's id, of a running peer's API
	Over  *client.Resume // over the network
}

type savedJSON struct {
	Theme    feedring.Theme `json:"theme,omitempty"`
	Provider string         `json:"provider,omitempty"`
	Words    string         `json:"words,omitempty"`
	Since    time.Time      `json:"since,omitzero"`
	Until    time.Time      `json:"until,omitzero"`
	Limit    int            `json:"limit,omitempty"`
	Peers    []string       `json:"peers,omitempty"`
	Last     string         `json:"last,omitempty"`
	Network  *client.Resume `json:"network,omitempty"`
}

// openSaved reads what is kept under a name. said tells whether the command
// line says what to follow; then it must be the same.
func (a *app) openSaved(name string, q feedring.Query, said bool) (*saved, error) {
	s := &saved{Query: q}
	if name == "" {
		return s, nil
	}
	if !savedName.MatchString(name) {
		return nil, usage("--resume %q: use letters, digits, dots and hyphens", name)
	}
	s.path = filepath.Join(a.data, "follow", name+".json")
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	var old savedJSON
	if err == nil {
		err = json.Unmarshal(text, &old)
	}
	if err != nil {
		return nil, failed(fmt.Errorf("--resume %s: %w: remove %s to begin again", name, err, s.path))
	}
	if said && (q.Theme != old.Theme || q.Provider != old.Provider || q.Words != old.Words) {
		return nil, usage("--resume %s follows something else: name nothing but it to go on, or choose another name", name)
	}
	s.Query = feedring.Query{
		Theme: old.Theme, Provider: old.Provider, Words: old.Words, Since: old.Since, Until: old.Until, Limit: old.Limit,
	}
	s.Entry, s.Last, s.Over = old.Peers, old.Last, old.Network
	return s, nil
}

// met is the peers met the last time.
func (s *saved) met() []feedring.PeerInfo {
	if s.Over == nil {
		return nil
	}
	return s.Over.Peers
}

// keep takes where a follower stands now.
func (s *saved) keep(r client.Resume) {
	s.Over = &r
	if err := s.write(); err != nil {
		slog.Warn("--resume: not kept", "err", err) // the end of the command says it again
	}
}

// write puts the state on disk, whole or not at all.
func (s *saved) write() error {
	if s.path == "" {
		return nil
	}
	text, err := json.Marshal(savedJSON{
		s.Query.Theme, s.Query.Provider, s.Query.Words, s.Query.Since, s.Query.Until, s.Query.Limit, s.Entry, s.Last, s.Over,
	})
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	fresh := s.path + ".new"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	if err := os.Rename(fresh, s.path); err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	return nil
}

package contacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/store"
)

const (
	// MaxJoins is how many targets are given while the peer runs.
	MaxJoins   = 64
	JoinRecord = "join"
)

// Joins are the targets that this peer joins the network through: those that serve
// was given, and those that were added while it ran, which are kept.
type Joins struct {
	store    *store.Store
	fixed    []string
	changing sync.Mutex // one change at a time is written down

	mu    sync.Mutex
	added []string
	via   *host.Joining // nil: the peer starts
}

// OpenJoins reads what was added earlier.
func OpenJoins(s *store.Store, fixed []string) (*Joins, error) {
	j := &Joins{store: s, fixed: fixed}
	value, err := s.Value(store.BucketPeer, JoinRecord)
	if errors.Is(err, store.ErrNotFound) {
		return j, nil
	}
	if err == nil {
		err = json.Unmarshal(value, &j.added)
	}
	if err != nil {
		return nil, fmt.Errorf("addresses that were joined through: %w", err)
	}
	j.added = slices.DeleteFunc(j.added, func(t string) bool { return addr.ParseTarget(t) != nil })
	return j, nil
}

// All are the targets, those that serve was given first.
func (j *Joins) All() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Concat(j.fixed, j.added)
}

// Through is what joins; the error is for who asks before the peer is there.
func (j *Joins) Through() (*host.Joining, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.via == nil {
		return nil, errors.New("this peer is starting")
	}
	return j.via, nil
}

// Full reports whether one more target would be too many.
func (j *Joins) Full(target string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.added) >= MaxJoins && !slices.Contains(j.added, target) && !j.Fixed(target)
}

// Fixed reports whether serve was given a target.
func (j *Joins) Fixed(target string) bool { return slices.Contains(j.fixed, target) }

// Start takes what joins through the targets from now on.
func (j *Joins) Start(via *host.Joining) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.via = via
}

// Change writes the added targets down with or without one. It reports whether
// that changed anything.
func (j *Joins) Change(ctx context.Context, target string, with bool) (bool, error) {
	j.changing.Lock()
	defer j.changing.Unlock()
	j.mu.Lock()
	next := slices.DeleteFunc(slices.Clone(j.added), func(t string) bool { return t == target })
	same := (len(next) < len(j.added)) == with || with && j.Fixed(target)
	j.mu.Unlock()
	if same {
		return false, nil
	}
	if with {
		next = append(next, target)
	}
	value, err := json.Marshal(next)
	if err == nil {
		err = j.store.Put(ctx, store.BucketPeer, JoinRecord, value)
	}
	if err != nil {
		return false, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.added = next
	return true, nil
}

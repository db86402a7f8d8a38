package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/feedring/feedring/internal/store"
)

// version is that of the records; an index of another version is built anew. Programs of
// version 1 kept words of what was taken back, and did not heed the rows that tell of it.
const version = 2

// state says where each row is found. Every row of the store is in a segment,
// at or after rest, or named by the journal after flushed. It never changes, but
// for its tail, which grows.
type state struct {
	segments []*segment // in the order of their first rows
	rest     *store.RowKey
	flushed  uint64
	nextID   uint64
	gone     []span // segments whose records may be there still
	tail     *tail
}

// span is the ids of segments from one up to another.
type span struct {
	From uint64 `json:"From"`
	To   uint64 `json:"To"`
}

// everything is the ids of all segments.
var everything = span{0, ^uint64(0)}

// manifest is the record that says which state is on disk.
type manifest struct {
	Version  int           `json:"Version"`
	Flushed  uint64        `json:"Flushed"`
	Next     uint64        `json:"Next"`
	Rest     *store.RowKey `json:"Rest,omitempty"`
	Segments []uint64      `json:"Segments"`
	Gone     []span        `json:"Gone,omitempty"`
}

// with is what follows when segments take the place of others.
func (s *state) with(made, instead []*segment) *state {
	to := *s
	to.segments = slices.DeleteFunc(slices.Clone(s.segments), func(old *segment) bool { return slices.Contains(instead, old) })
	to.segments = append(to.segments, made...)
	slices.SortFunc(to.segments, func(a, b *segment) int { return a.starts[0].Compare(b.starts[0]) })
	to.gone = slices.Clone(s.gone)
	for _, old := range instead {
		to.gone = append(to.gone, span{old.id, old.id + 1})
	}
	for _, m := range made {
		to.nextID = max(to.nextID, m.id+1)
	}
	return &to
}

// anew is the state of an index that knows nothing, at a time at which the
// journal stands at a number.
func anew(journaled, nextID uint64, gone []span) *state {
	return &state{rest: &store.RowKey{}, flushed: journaled, nextID: nextID, gone: gone, tail: newTail(journaled)}
}

// save writes the manifest.
func (h *History) save(ctx context.Context, s *state) error {
	m := manifest{Version: version, Flushed: s.flushed, Next: s.nextID, Rest: s.rest, Segments: []uint64{}, Gone: s.gone}
	for _, seg := range s.segments {
		m.Segments = append(m.Segments, seg.id)
	}
	body, err := json.Marshal(&m)
	if err != nil {
		return fmt.Errorf("index of the history: %w", err)
	}
	return h.store.Write(ctx, store.BucketHistory, []store.Change{{Key: manifestKey, Value: sealed(manifestKey, body)}})
}

// restore reads the state on disk. What is not there, or does not read well, is
// begun anew.
func (h *History) restore() (*state, error) {
	journaled := h.store.Journaled() // before the store is looked at
	var s *state
	err := h.store.Read(func(r *store.Reader) (err error) {
		s, err = restore(r, journaled)
		return err
	})
	if errors.Is(err, errDamaged) {
		if journaled > 0 {
			h.log.Info("the index of the history is built anew")
		}
		return anew(journaled, 0, []span{everything}), nil
	}
	return s, err
}

func restore(r *store.Reader, journaled uint64) (*state, error) {
	var m manifest
	err := read(r, manifestKey, func(body []byte) error {
		if json.Unmarshal(body, &m) != nil || m.Version != version || m.Flushed > journaled {
			return errDamaged
		}
		return nil
	})
	s := &state{rest: m.Rest, flushed: m.Flushed, nextID: m.Next, tail: newTail(m.Flushed)}
	s.gone = append(m.Gone, span{m.Next, ^uint64(0)}) // what a kill left of others
	for _, id := range m.Segments {
		if err != nil {
			break
		}
		var seg *segment
		if seg, err = load(r, id); err == nil {
			s.segments = append(s.segments, seg)
		}
	}
	return s, err
}

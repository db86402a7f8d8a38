package presence

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

const (
	witnessFor = 5 * time.Minute
	maxKeys    = 16_384
	maxEach    = 4
	maxBytes   = 32 << 20 // of all payloads: one may be ten times as long as it need be
)

// HeardStatement is a statement that a witness heard some time ago.
type HeardStatement struct {
	Statement Statement
	Age       time.Duration
}

// Witness remembers what processes said, by their key, for others with the same
// key. It is not safe for concurrent use.
type Witness struct {
	keys  map[feedring.PeerID][]heard
	bytes int // of their payloads
	swept time.Time
}

type heard struct {
	Statement
	at time.Time
}

// Record takes a statement that the holder of a key made, and returns those of
// other processes with that key.
func (w *Witness) Record(now time.Time, of feedring.PeerID, s Statement) (others []HeardStatement) {
	if w.keys == nil {
		w.keys = map[feedring.PeerID][]heard{}
	}
	before := sizeOf(w.keys[of])
	all := slices.DeleteFunc(slices.Clone(w.keys[of]), func(h heard) bool { return now.Sub(h.at) > witnessFor })
	for _, h := range all {
		if h.Instance != s.Instance {
			others = append(others, HeardStatement{h.Statement, now.Sub(h.at)})
		}
	}
	switch i := slices.IndexFunc(all, func(h heard) bool { return h.Instance == s.Instance }); {
	case i >= 0 && s.Count > all[i].Count:
		all = slices.Delete(all, i, i+1)
		all = append(all, heard{s, now})
	case i < 0:
		all = append(all, heard{s, now})
	}
	all = all[max(0, len(all)-maxEach):] // the last ones heard
	grows := sizeOf(all) - before
	if w.keys[of] == nil && len(w.keys) >= maxKeys || grows > 0 && w.bytes+grows > maxBytes {
		if !w.sweep(now, grows) {
			return others
		}
		grows = sizeOf(all) - sizeOf(w.keys[of]) // that may be gone
	}
	w.keys[of] = all
	w.bytes += grows
	return others
}

func sizeOf(all []heard) (bytes int) {
	for i := range all {
		if all[i].Seal != nil {
			bytes += len(all[i].Seal.Payload)
		}
	}
	return bytes
}

// sweep forgets what is old, and reports whether there is room for one more key,
// and so many bytes.
func (w *Witness) sweep(now time.Time, bytes int) bool {
	if now.Sub(w.swept) >= witnessFor/10 {
		w.swept = now
		for of, all := range w.keys {
			if now.Sub(all[len(all)-1].at) > witnessFor {
				w.bytes -= sizeOf(all)
				delete(w.keys, of)
			}
		}
	}
	return len(w.keys) < maxKeys && w.bytes+bytes <= maxBytes
}

package presence

import (
	"cmp"
	"time"

	"github.com/feedring/feedring"
)

// Statement is what one process says of itself, signed with its key.
type Statement struct {
	Instance  uint64    // of the process, drawn at random when it started
	Count     uint64    // of its statements, from 1
	Since     time.Time // ranks it among the processes with its key
	Publishes bool
	Gone      bool   // it has stopped: its last statement
	Epoch     uint64 // none of its logs has a later one
	Addrs     []string
	Seen      []Sight // of other processes with its key

	Seal *feedring.Seal // nil: not signed yet
}

// Sight is the newest statement of another process that a process has seen. A
// statement that names one of this process was made after it: no record of an
// earlier life can do that.
type Sight struct{ Instance, Count uint64 }

// Limits of a statement.
const (
	MaxSeen  = 4
	MaxAddrs = 4
)

// rank orders processes: the least one publishes.
type rank struct {
	since    time.Time
	instance uint64
}

func (s *Statement) rank() rank { return rank{s.Since, s.Instance} }

func (r rank) before(other rank) bool {
	return cmp.Or(r.since.Compare(other.since), cmp.Compare(r.instance, other.instance)) < 0
}

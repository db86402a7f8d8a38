//go:build !race

package explore

import "testing"

// tardy is one peer that manages itself after some units of time, not before.
type tardy struct{ units int }

func (t tardy) Start(int) ([]Peer, [][]Sent) { return []Peer{tardyPeer{t.units}}, [][]Sent{nil} }

type tardyPeer struct{ left int }

func (p tardyPeer) Hash() uint64                        { return mix(uint64(p.left)) }
func (p tardyPeer) Up() bool                            { return true }
func (p tardyPeer) Due() bool                           { return false }
func (p tardyPeer) Fire() (Peer, []Sent)                { return p, nil }
func (p tardyPeer) Elapse() Peer                        { return tardyPeer{max(p.left-1, 0)} }
func (p tardyPeer) Receive(int, Message) (Peer, []Sent) { return p, nil }
func (p tardyPeer) Crash() []Peer                       { return nil }
func (p tardyPeer) Restart() (Peer, []Sent)             { return p, nil }
func (p tardyPeer) Rival(Peer) (Peer, []Sent)           { return p, nil }
func (p tardyPeer) String() string                      { return "tardy" }

func (p tardyPeer) Status() Status {
	if p.left > 0 {
		return Status{Manager: -1}
	}
	return Status{Manager: 0, Serving: true}
}

// TestLate: 3 r until one manager are as invariant L1 promises, a unit more is
// late, and not bad.
func TestLate(t *testing.T) {
	for more := range 2 {
		res, err := Run(tardy{3*unitsPerRefresh + more}, Config{Peers: 1, Begin: Founding, States: 1})
		if err != nil || res.Bad != 0 || res.Late != more || len(res.SlowTrace) == 0 {
			t.Errorf("%d units after 3 r: %+v, %v", more, res, err)
		}
	}
}

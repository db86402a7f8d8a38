//go:build !race

package explore

import "testing"

// hasty is three peers of whom the last follows the manager, the second one,
// only if the first peer's word comes before the manager's own.
type hasty struct{}

func (hasty) Start(int) ([]Peer, [][]Sent) {
	word := []Sent{{To: 2, Message: written{}}}
	return []Peer{hastyPeer{index: 0, follows: 1}, hastyPeer{index: 1, follows: 1}, hastyPeer{index: 2, follows: -1}}, [][]Sent{word, word, nil}
}

type hastyPeer struct {
	index, follows int
	decided        bool
}

func (p hastyPeer) Hash() uint64 {
	h := uint64(p.index<<8|p.follows+1) << 1
	if p.decided {
		h++
	}
	return mix(h)
}

func (p hastyPeer) Receive(from int, _ Message) (Peer, []Sent) {
	if !p.decided && from == 0 {
		p.follows = 1
	}
	p.decided = true
	return p, nil
}

func (p hastyPeer) Up() bool                { return true }
func (p hastyPeer) Due() bool               { return false }
func (p hastyPeer) Fire() (Peer, []Sent)    { return p, nil }
func (p hastyPeer) Elapse() Peer            { return p }
func (p hastyPeer) Crash() []Peer           { return nil }
func (p hastyPeer) Restart() (Peer, []Sent) { return p, nil }
func (p hastyPeer) Rival(Peer) (Peer, []Sent) {
	return p, nil
}
func (p hastyPeer) Status() Status { return Status{p.follows, p.index == 1} }
func (p hastyPeer) String() string { return "hasty" }

// TestBackwards: a state that turns out well in one order only is bad where
// another than the first peer serves.
func TestBackwards(t *testing.T) {
	res, err := Run(hasty{}, Config{Peers: 3, Begin: Founding, States: 1})
	if err != nil || res.Bad != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}

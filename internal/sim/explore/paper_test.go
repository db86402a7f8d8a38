//go:build !race

package explore

import (
	"fmt"
	"strings"
	"testing"
)

// paper is a peer by the letter of section 4 of "Routage distribué de flux
// RSS". What the paper leaves open is chosen in its favour: clocks agree,
// nothing waits for a disk, who starts again asks for the manager, and a
// manager whose secondary is silent takes the next peer without further ado.
type paper struct {
	n, self   int
	up        bool
	manager   int // -1: nobody
	secondary int // the manager's choice; for a peer, itself or -1
	last      int // age of the last interaction with the manager; of a refresh, for the secondary
	acked     int // age of the secondary's last acknowledgement
	beat      int // until the next refresh
	talk      int // until the next word to the other peers
	window    int // until an intention is unopposed; 0: none
	wait      int // until the next attempt
	objected  int // attempts that failed
}

const (
	paperBeat     = unitsPerRefresh / 3
	paperWindow   = unitsPerRefresh / 4
	paperAttempts = 3
	paperOldest   = 10 * unitsPerRefresh
)

// word is a message of the paper; age is a date, told by how long ago it was.
type word struct {
	verb string
	age  int
}

func (w word) Hash() uint64   { return hash([]byte(w.String())) }
func (w word) Lane() string   { return w.verb }
func (w word) String() string { return fmt.Sprintf("%s(%d)", w.verb, w.age) }

type papers struct{}

func (papers) Start(n int) ([]Peer, [][]Sent) {
	var peers []Peer
	for i := range n {
		p := paper{n: n, self: i, up: true, secondary: -1}
		if i == 0 {
			p.secondary, p.talk = 1, paperBeat/2
		} else if i == 1 {
			p.secondary = 1
		}
		peers = append(peers, p)
	}
	return peers, make([][]Sent, n)
}

func (p paper) Hash() uint64 { return hash(fmt.Appendf(nil, "%#v", p)) }
func (p paper) Up() bool     { return p.up }
func (p paper) Status() Status {
	return Status{Manager: p.manager, Serving: p.up && p.manager == p.self}
}

func (p paper) String() string {
	switch {
	case p.manager == p.self:
		return "manager"
	case p.secondary == p.self:
		return fmt.Sprintf("secondary of p%d", p.manager)
	default:
		return fmt.Sprintf("peer of p%d", p.manager)
	}
}

func (p paper) all(verb string, age int) (sent []Sent) {
	for i := range p.n {
		if i != p.self {
			sent = append(sent, Sent{i, word{verb, age}})
		}
	}
	return sent
}

func (p paper) serves() bool { return p.up && p.manager == p.self }
func (p paper) second() bool { return p.up && p.manager != p.self && p.secondary == p.self }

func (p paper) Due() bool {
	return p.serves() && (p.beat <= 0 || p.talk <= 0) || p.second() && (p.window == 1 || p.window == 0 && p.wait == 0 && p.last >= unitsPerRefresh)
}

func (p paper) Fire() (Peer, []Sent) {
	switch {
	case p.serves() && p.beat <= 0:
		p.beat = paperBeat
		if p.acked >= unitsPerRefresh {
			p.acked = 0
			if p.secondary = (p.secondary + 1) % p.n; p.secondary == p.self {
				p.secondary = (p.secondary + 1) % p.n
			}
		}
		return p, []Sent{{p.secondary, word{"refresh", 0}}}
	case p.serves():
		p.talk = paperBeat
		var sent []Sent
		for _, s := range p.all("words", 0) {
			if s.To != p.secondary {
				sent = append(sent, s)
			}
		}
		return p, sent
	case p.window == 1: // unopposed
		p.window, p.manager, p.acked, p.beat, p.talk = 0, p.self, 0, 0, paperBeat/2
		p.secondary = (p.self + 1) % p.n
		return p, p.all("CONFIRMATION", 0)
	default:
		p.window = 1 + paperWindow
		return p, p.all("INTENTION", p.last)
	}
}

func (p paper) Elapse() Peer {
	p.last, p.acked = min(p.last+1, paperOldest), min(p.acked+1, paperOldest)
	p.beat, p.talk, p.wait = max(p.beat-1, 0), max(p.talk-1, 0), max(p.wait-1, 0)
	p.window = max(p.window-1, min(p.window, 1))
	return p
}

func (p paper) Receive(from int, msg Message) (Peer, []Sent) {
	switch w := msg.(word); w.verb {
	case "refresh":
		if from == p.manager {
			p.secondary, p.last, p.window, p.wait, p.objected = p.self, 0, 0, 0, 0
			return p, []Sent{{from, word{"acknowledged", 0}}}
		}
	case "acknowledged":
		if p.serves() && from == p.secondary {
			p.acked = 0
		}
	case "words":
		if from == p.manager && p.secondary != p.self {
			p.last = 0
		}
	case "INTENTION":
		if p.serves() || p.last < w.age { // a later date than the secondary's
			return p, []Sent{{from, word{"later", p.last}}}
		}
	case "later":
		return p.later(), nil
	case "CONFIRMATION":
		p.manager, p.secondary, p.last, p.window = from, -1, 0, 0
	case "who":
		if p.serves() {
			return p, []Sent{{from, word{"CONFIRMATION", 0}}}
		}
	}
	return p, nil
}

// later puts the next attempt off by r; after k of them it gives up.
func (p paper) later() Peer {
	if p.window == 0 {
		return p
	}
	p.window = 0
	if p.objected++; p.objected >= paperAttempts {
		p.secondary = -1
		return p
	}
	p.wait = unitsPerRefresh
	return p
}

func (p paper) Crash() []Peer { return []Peer{paper{n: p.n, self: p.self, manager: -1, secondary: -1}} }

func (p paper) Restart() (Peer, []Sent) {
	p.up = true
	return p, p.all("who", 0)
}

func (p paper) Rival(Peer) (Peer, []Sent) { return p, nil }

// TestPaperFails: by the paper's own rules one crash leaves the group without
// a manager for ever, and one partition with two.
func TestPaperFails(t *testing.T) {
	for _, c := range []struct {
		kinds    Kinds
		managers int
	}{{Crashes, 0}, {Cuts, 2}} {
		res, err := Run(papers{}, Config{Peers: 3, Faults: 1, Kinds: c.kinds, States: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(res.Trace, "\n")
		if testing.Verbose() {
			t.Logf("%d states, whole %v, %d bad\n%s", res.States, res.Whole, res.Bad, text)
		}
		if res.Bad == 0 || strings.Count(text, "FAULT") != 1 {
			t.Fatalf("%d of %d states are bad after one fault\n%s", res.Bad, res.States, text)
		}
		last := text[strings.LastIndex(text, "= "):]
		last, _, _ = strings.Cut(last, "\n")
		if strings.Count(last, "manager") != c.managers {
			t.Errorf("it ends with %s", last)
		}
	}
}

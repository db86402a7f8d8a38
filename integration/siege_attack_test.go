package integration

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
	"github.com/feedring/feedring/ring"
)

// besieger is one place of a phase from which hostile keys attack one peer.
type besieger struct {
	*siege
	phase  *phase
	ip     string
	victim *peer
	round  int
	with   *stranger
}

func (a *besieger) attacks(stop <-chan struct{}) {
	every(50*time.Millisecond, stop, func() {
		if a.with == nil {
			var err error
			if a.with, err = strangerAt(a.t, a.victim.byTCP(), a.ip); err != nil {
				a.phase.count(func() { a.phase.Shut++ })
				return
			}
			a.phase.count(func() { a.phase.Used++ })
		}
		a.round++
		a.attack(stop)
		a.phase.count(func() { a.phase.Attacks++ })
		if a.phase.Fresh {
			a.leave()
		}
	})
	a.leave()
}

func (a *besieger) leave() {
	if a.with != nil {
		_ = a.with.lib.Close()
		a.with = nil
	}
}

// attack does the next of what hostile keys do.
func (a *besieger) attack(stop <-chan struct{}) {
	s, news := a.with, feedring.Theme("news").Group()
	h := group.Header{Group: news, Term: feedring.Term{Number: uint64(a.round), Claimant: s.sealer.ID()}}
	switch a.round % 7 {
	case 0: // statements that are well signed and of no use
		var useless ring.Rows
		for i := range 300 {
			term := feedring.Term{Number: uint64(a.round*300 + i + 1), Claimant: s.sealer.ID()}
			useless.Lost = append(useless.Lost, ring.Lost{Group: news, Term: term, Version: 1, By: s.sealer.ID()})
		}
		s.say(s.sealer, nil, useless)
	case 1: // rows of keys that never connected
		s.say(s.sealer, nil, group.Rows{Header: h, Rows: a.madeUp})
	case 2: // a join, and rows of its own with others' feeds
		row := s.row()
		row.Version, row.From = uint64(a.round), time.Now().Add(-100*time.Hour)
		s.say(s.sealer, nil, group.Join{Header: h, Row: row}, group.Rows{Header: h, Rows: []*group.Row{&row}})
	case 3: // claims
		s.say(s.sealer, nil, s.usurpation(uint64(a.round))...)
		s.say(s.sealer, nil, s.usurpation(1<<40)...)
	case 4: // what is no message, on all verbs
		for _, verb := range codec.Verbs() {
			select {
			case <-stop:
				return
			default:
				s.write(wire.ProtocolID("main", verb), bytes.Repeat([]byte{0xff}, 64), false)
			}
		}
	case 5: // wrong signatures, and another network's
		s.say(s.sealer, func(frame []byte) { frame[len(frame)-1] ^= 1 }, s.usurpation(uint64(a.round))...)
		s.say(s.other, nil, s.usurpation(uint64(a.round))...)
	case 6: // halves of requests
		a.halves.begin(a.ip, strings.TrimPrefix(a.victim.http, "http://"))
	}
}

// halfRequests are HTTP requests that never end, mostHalves of all attackers at most.
type halfRequests struct {
	mu  sync.Mutex
	all []net.Conn
}

const mostHalves = 800

func (h *halfRequests) begin(from, to string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for range 20 {
		if len(h.all) >= mostHalves {
			_ = h.all[0].Close()
			h.all = h.all[1:]
		}
		c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: time.Second}).Dial("tcp", to)
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "POST /api/v1/ping HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nX-Half: ")
		h.all = append(h.all, c)
	}
}

func (h *halfRequests) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.all {
		_ = c.Close()
	}
	h.all = nil
}

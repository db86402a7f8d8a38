package experiment

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// hall is the system of the paper on real machines: servers in groups, and
// clients that ask a server of theirs, are sent to a provider, attach there,
// wait their turn and go.
type hall struct {
	cfg    PaperConfig
	stage  *stage.Stage
	group  []int // by feed
	ledger *ledger
	desks  map[feedring.PeerID]*server
	number map[feedring.PeerID]int
	entry  []*stage.Host // where each client asks
	began  time.Duration
}

// patience is how long a client waits for its final.
const patience = 30 * time.Second

func newHall(cfg PaperConfig, group []int) (*hall, error) {
	fresh := 4 * cfg.Refresh
	h := &hall{cfg: cfg, stage: NewStage(cfg.Seed, cfg.Refresh, fresh, cfg.Delay), group: group, ledger: newLedger(cfg),
		desks: map[feedring.PeerID]*server{}, number: map[feedring.PeerID]int{}}
	cfg.Latencies.over(h.stage, cfg.Seed)
	for feed := range cfg.Servers {
		host := enter(h.stage, feed, ThemeOf(group[feed]))
		h.desks[host.ID], h.number[host.ID] = &server{}, feed
		h.stage.Run(100 * time.Millisecond)
	}
	h.stage.Run(fresh + 10*cfg.Refresh) // until all are complete since the freshness date
	for _, host := range h.stage.Hosts() {
		v := host.View()
		if !v.Settled() || len(v.Ring) != cfg.Groups {
			return nil, fmt.Errorf("%s is not in its group, or sees %d of %d groups", host.ID, len(v.Ring), cfg.Groups)
		}
	}
	for range cfg.Clients {
		h.entry = append(h.entry, h.stage.Hosts()[h.stage.Random().IntN(cfg.Servers)])
	}
	Forget(h.stage)
	h.began = h.stage.Now()
	return h, nil
}

// play lets one cycle pass.
func (h *hall) play(requests []request, cycle int) {
	each := h.cfg.Clients * h.cfg.Each
	for _, r := range requests[cycle*each : (cycle+1)*each] {
		h.stage.After(h.began+r.at-h.stage.Now(), func() { h.ask(r) })
	}
	h.stage.Run(h.began + time.Duration(cycle+1)*h.cfg.Cycle - h.stage.Now())
}

func (h *hall) ask(r request) {
	q := feedring.Query{Theme: ThemeOf(h.group[r.feed]), Provider: NameOf(r.feed)}
	client := feedring.PeerID(fmt.Sprintf("client%03d", r.client))
	h.stage.Ask(client, h.entry[r.client], q, patience, func(f feedring.Final) {
		if f.Status != feedring.Answered || len(f.Grants) != 1 {
			h.ledger.refused++
			return
		}
		h.attach(r, f.Grants[0])
	})
}

// attach goes to the provider, which serves until its turn is over.
func (h *hall) attach(r request, g feedring.Grant) {
	provider := h.stage.Host(g.Provider.ID)
	var stream uint64
	stream = h.stage.Attach(provider, g.Ticket, func(ok bool) {
		if !ok {
			h.ledger.refused++
			return
		}
		h.ledger.served[h.number[provider.ID]]++
		at := h.desks[provider.ID].take(h.stage.Now(), h.cfg.service())
		h.ledger.answered(r, at+h.cfg.Delay-h.began)
		h.stage.After(at-h.stage.Now(), func() { provider.Detach(g.Ticket.Group, stream) })
	})
}

func (h *hall) result(requests []request) (RequestsRun, LookupEffort) {
	n := float64(len(requests))
	effort := LookupEffort{Messages: float64(sent(h.stage, queryVerbs...)) / n}
	for _, host := range h.stage.Hosts() {
		sum := 0
		for _, v := range queryVerbs {
			sum += host.Sent[v] + host.Received[v]
		}
		effort.Manager = max(effort.Manager, float64(sum)/n)
	}
	return h.ledger.run(requests, h.group), effort
}

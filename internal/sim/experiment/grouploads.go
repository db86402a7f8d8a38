package experiment

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// GroupLoad is what one entry costs a group of so many peers: measured.
type GroupLoad struct {
	Peers     int     `json:"peers"`
	Notifies  float64 `json:"notifies"`   // that the publisher sent
	Polls     float64 `json:"polls"`      // that the publisher answered
	Busiest   float64 `json:"busiest"`    // the most of both by any other peer
	All       float64 `json:"all"`        // of all peers
	LastAfter Spread  `json:"last_after"` // seconds until the last peer had it
}

const measuredEntries = 10

// measureGroup publishes some entries, one after the other, in a group at rest.
func measureGroup(cfg CompareConfig, n int) (GroupLoad, error) {
	s, err := groupOf(cfg, n)
	if err != nil {
		return GroupLoad{}, err
	}
	var last []float64
	began, holders := time.Duration(0), 0
	s.Held = func(*stage.Host, feedring.Head) {
		if holders++; holders == n {
			last = append(last, (s.Now() - began).Seconds())
		}
	}
	Forget(s)
	publisher := s.Hosts()[n/2]
	for range measuredEntries {
		began, holders = s.Now(), 0
		publisher.Publish(ThemeOf(0), URLOf(n/2))
		s.Run(20 * time.Second)
	}
	if len(last) != measuredEntries {
		return GroupLoad{}, fmt.Errorf("%d of %d entries reached all of %d peers in 20 s", len(last), measuredEntries, n)
	}
	load := GroupLoad{Peers: n, LastAfter: SpreadOf(last)}
	for _, h := range s.Hosts() {
		notifies, polls := float64(h.Sent["notify"])/measuredEntries, float64(h.Received[stage.Poll])/measuredEntries
		load.All += notifies + polls
		if h == publisher {
			load.Notifies, load.Polls = notifies, polls
		} else {
			load.Busiest = max(load.Busiest, notifies+polls)
		}
	}
	return load, nil
}

func groupOf(cfg CompareConfig, n int) (*stage.Stage, error) {
	s := NewStage(cfg.Seed, 10*time.Second, time.Minute, cfg.Hop)
	cfg.Latencies.over(s, cfg.Seed)
	for i := range n {
		enter(s, i, ThemeOf(0))
		s.Run(100 * time.Millisecond)
	}
	s.Run(3 * time.Minute)
	for _, h := range s.Hosts() {
		if v := h.View().Memberships[ThemeOf(0)]; v == nil || len(v.Members) != n {
			return nil, fmt.Errorf("not everybody is in a group of %d peers after %v", n, s.Now())
		}
	}
	return s, nil
}

// AttachLoad is how readers spread over a group: measured.
type AttachLoad struct {
	Readers   int     `json:"readers"`
	Peers     int     `json:"peers"`
	Served    int     `json:"served"`
	Mean      float64 `json:"mean"` // readers of a peer
	Most      int     `json:"most"`
	Publisher int     `json:"publisher"` // readers of the feed's own peer
	Manager   float64 `json:"manager"`   // messages about queries of the busiest peer, for each reader
}

// measureAttach lets readers come, a hundred a second, and stay.
func measureAttach(cfg CompareConfig, readers int) (AttachLoad, error) {
	s, err := groupOf(cfg, cfg.Hosts)
	if err != nil {
		return AttachLoad{}, err
	}
	Forget(s)
	at := map[feedring.PeerID]int{}
	q := feedring.Query{Theme: ThemeOf(0), Provider: NameOf(0)}
	for i := range readers {
		client, contact := feedring.PeerID(fmt.Sprintf("reader%06d", i)), s.Hosts()[s.Random().IntN(cfg.Hosts)]
		s.After(time.Duration(i)*10*time.Millisecond, func() {
			s.Ask(client, contact, q, patience, func(f feedring.Final) {
				if f.Status == feedring.Answered && len(f.Grants) == 1 {
					s.Attach(s.Host(f.Grants[0].Provider.ID), f.Grants[0].Ticket, func(ok bool) {
						if ok {
							at[f.Grants[0].Provider.ID]++
						}
					})
				}
			})
		})
	}
	s.Run(time.Duration(readers)*10*time.Millisecond + patience)
	load := AttachLoad{Readers: readers, Peers: cfg.Hosts, Publisher: at[s.Hosts()[0].ID]}
	for _, h := range s.Hosts() {
		load.Served += at[h.ID]
		load.Most = max(load.Most, at[h.ID])
		sum := 0
		for _, v := range queryVerbs {
			sum += h.Sent[v] + h.Received[v]
		}
		load.Manager = max(load.Manager, float64(sum)/float64(readers))
	}
	load.Mean = float64(load.Served) / float64(cfg.Hosts)
	return load, nil
}

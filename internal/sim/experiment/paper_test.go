package experiment

import (
	"reflect"
	"testing"
	"time"
)

func little() PaperConfig {
	cfg := DefaultPaper()
	cfg.Servers, cfg.Clients, cfg.Cycles, cfg.Groups = 8, 10, 6, 2
	return cfg
}

// Central polling loses what the popular sites get beyond their capacity, and
// nothing else: that much can be reckoned by hand.
func TestCentralOverload(t *testing.T) {
	cfg := little()
	cfg.Each, cfg.Capacity, cfg.Cycles = 400, 500, 10
	got, err := Paper(PaperConfig{Seed: 1, Servers: 8, Clients: 1, Each: 1, Cycles: 1, Groups: 1, Capacity: 1, Cycle: time.Second, Refresh: time.Second, Exponent: 1}, nil)
	if err != nil || got.Central.Requests != 1 {
		t.Fatal(got, err)
	}
	requests, group := cfg.workload()
	run := cfg.central(requests, group)
	count := make([]int, cfg.Servers)
	for _, r := range requests {
		count[r.feed]++
	}
	least := 0 // what cannot have been answered
	for _, n := range count {
		least += max(0, n-cfg.Capacity*cfg.Cycles)
	}
	pending := run.Pending[cfg.Cycles-1]
	if most := least + len(requests)/20; least == 0 || pending < least || pending > most {
		t.Errorf("%d pending, not between %d and %d", pending, least, most)
	}
}

func TestOursServesWhatThereIsRoomFor(t *testing.T) {
	cfg := little()
	got, err := Paper(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Ours.Refused != 0 || got.Ours.Requests != 240 || got.Ours.Answered < 0.9 {
		t.Errorf("ours: %+v", got.Ours)
	}
	if got.Ours.Seconds.Count+got.Ours.Pending[cfg.Cycles-1] != got.Ours.Requests {
		t.Errorf("%d answered and %d pending of %d", got.Ours.Seconds.Count, got.Ours.Pending[cfg.Cycles-1], got.Ours.Requests)
	}
	// Client and peer, and back; peer and provider, and back: no answer is faster.
	if least := (4*cfg.Delay + cfg.service()).Seconds(); got.Ours.Seconds.P50 < least {
		t.Errorf("answered in %v s, the way takes %v", got.Ours.Seconds.P50, least)
	}
	if got.Lookup.Messages < 2 || got.Lookup.Messages > 12 {
		t.Errorf("%v messages for a lookup", got.Lookup.Messages)
	}
	again, _ := Paper(cfg, nil)
	if !reflect.DeepEqual(got, again) {
		t.Error("another result with the same seed")
	}
}

// Beyond the capacity of all servers nothing helps; short of it, ours spreads
// the load that central polling leaves with one.
func TestOursBreaksAtCapacity(t *testing.T) {
	cfg := little()
	cfg.Groups, cfg.Each, cfg.Capacity = 1, 40, 60 // 400 a cycle, room for 480
	got, err := Paper(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Ours.Answered < 0.8 || got.Central.Answered > 0.75 || got.Ours.Busiest > 0.2 || got.Central.Busiest < 0.3 {
		t.Errorf("short of capacity: ours %+v, central %+v", got.Ours, got.Central)
	}
	cfg.Capacity = 25 // room for 200
	got, err = Paper(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Ours.Answered > 0.5 {
		t.Errorf("more than there is room for: %v of the requests answered", got.Ours.Answered)
	}
}

func TestPaperRefusesWhatCannotBe(t *testing.T) {
	for _, change := range []func(*PaperConfig){
		func(c *PaperConfig) { c.Groups = 81 }, func(c *PaperConfig) { c.Capacity = 0 },
		func(c *PaperConfig) { c.Delay = time.Second }, func(c *PaperConfig) { c.Cycle = 0 },
	} {
		cfg := DefaultPaper()
		change(&cfg)
		if _, err := Paper(cfg, nil); err == nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
}

package main

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/feedring/feedring/internal/sim/experiment/exchange"
)

// functions are those of the paper's table 1, but for query_feed, which nobody calls here.
func (n *node) functions() http.Handler {
	known := func(do func(from int, param value) (value, error)) function {
		return func(address string, params []value) (value, error) {
			from, err := n.machine(address)
			if err != nil || len(params) == 0 {
				return value{}, errors.Join(errors.New("a call without a port, or of a stranger"), err)
			}
			var param value
			if len(params) > 1 {
				param = params[1]
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			return do(from, param)
		}
	}
	var forwarding sync.WaitGroup // ends with its calls, which have their time
	return serve(map[string]function{
		"get_neighbors": known(func(from int, _ value) (value, error) {
			if from >= len(n.Links) {
				return value{}, errors.New("this is no list server")
			}
			var all []value
			for _, m := range n.Links[from] {
				all = append(all, structure(member{"ip", text(n.Machines[m])}, member{"port", number(n.Port)}))
			}
			return array(all), nil
		}),
		"connect": known(func(from int, subset value) (value, error) {
			n.learn(from, subset)
			n.told[from] = n.rules.Interest(from)
			return n.subset(nil, n.told[from]), nil
		}),
		"update_subset": known(func(from int, subset value) (value, error) {
			n.learn(from, subset)
			return text("ok"), nil
		}),
		"check_did": known(func(_ int, which value) (value, error) {
			id, err := parseDID(which.text())
			n.counts.Checks++
			if err == nil && n.rules.Seen(id) {
				return text("seen"), nil
			}
			return text("unseen"), err
		}),
		"put_entries": known(func(from int, bundle value) (value, error) {
			b, items, err := n.read(bundle)
			if err != nil {
				return value{}, err
			}
			for e, it := range items {
				n.items[entry{b.Feed, e}] = it
			}
			fresh, then := n.rules.Put(n.now(), from, b)
			n.counts.Puts++
			n.counts.Entries += len(b.Entries)
			if len(fresh) > 0 {
				n.counts.Fresh++
			}
			n.ask(context.Background(), &forwarding, then)
			return text("ok"), nil
		}),
	})
}

// connect finds neighbours (section 3.1) and then tells them at times what changed. The
// list server names those that selection by overlap (section 3.2) comes to.
func (n *node) connect(ctx context.Context) {
	var found value
	for {
		var err error
		if found, err = call(ctx, n.client, n.List, "get_neighbors", number(n.Port)); err == nil {
			break
		}
		if !pause(ctx, callAgain) {
			return
		}
	}
	for _, v := range found.values() {
		to, err := n.machine(v.of("ip").text() + ":0")
		if err != nil {
			continue
		}
		for {
			n.mu.Lock()
			mine := n.rules.Interest(to)
			n.mu.Unlock()
			theirs, err := n.call(ctx, to, "connect", n.subset(nil, mine))
			if err == nil {
				n.mu.Lock()
				n.told[to] = mine
				n.learn(to, theirs)
				n.mu.Unlock()
				break
			}
			if !pause(ctx, callAgain) {
				return
			}
		}
	}
	for pause(ctx, n.real(advertise)) {
		n.update(ctx)
	}
}

// update tells each neighbour what changed of the interests that it was told.
func (n *node) update(ctx context.Context) {
	n.mu.Lock()
	changes := make(map[int]value)
	for to, before := range n.told {
		now := n.rules.Interest(to)
		if v := n.subset(before, now); len(v.values()) > 0 {
			changes[to], n.told[to] = v, now
		}
	}
	n.mu.Unlock()
	for to, v := range changes {
		_, _ = n.call(ctx, to, "update_subset", v)
	}
}

// subset writes what of the interests is another than before.
func (n *node) subset(before, now []uint8) value {
	var all []value
	for f, hops := range now {
		was := uint8(exchange.NoInterest)
		if before != nil {
			was = before[f]
		}
		if hops != was {
			all = append(all, structure(member{"url", text(n.nodeConfig.Feeds[f])}, member{"hops", number(int(hops))}))
		}
	}
	return array(all)
}

// learn takes what a neighbour tells of its interests, or what changed of them.
func (n *node) learn(from int, subset value) {
	interest := make([]uint8, n.config.Feeds)
	for f := range interest {
		interest[f] = exchange.NoInterest
	}
	copy(interest, n.theirs[from])
	for _, v := range subset.values() {
		for f, url := range n.nodeConfig.Feeds {
			if url == v.of("url").text() {
				interest[f] = uint8(v.of("hops").number())
			}
		}
	}
	n.theirs[from] = interest
	n.rules.Neighbour(from, interest)
}

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

const stories = 20 // of the feed that moves

// ids are those of the entries of an answer, sorted.
func (r result) ids() (ids []string) {
	for _, e := range r.entries() {
		ids = append(ids, e.str("id"))
	}
	slices.Sort(ids)
	return ids
}

// TestAPublisherMovesToAClosedNetwork: a peer of the open network is moved by a code, and
// killed at one point after the other meanwhile: it is in the old network with all it had, or in
// the new one. There readers find its entries under their ids, and what was taken back is not
// published again.
func TestAPublisherMovesToAClosedNetwork(t *testing.T) {
	t.Parallel()
	f := newFeed("own", stories)
	o := newOrigin(t)
	n := newNetwork(t, associationRefresh.String())
	p, other := n.prepare(nil, "news=own@"+o.feed(f)), n.prepare(nil, "news=other@"+o.feed(newFeed("other", 3)))
	n.start(p)
	other.args = append(other.args, "--join", p.addr)
	n.start(other)
	asks := func(q *peer) result {
		t.Helper()
		return command(t, "query", "--theme", "news", "--provider", "own", "--limit", "100", "--json", "--data", q.data)
	}
	until(t, 30*time.Second, "all entries", func() bool { return len(asks(p).entries()) == stories })
	if r := command(t, "retract", asks(p).entries()[7].str("url"), "--data", p.data); r.code != 0 {
		t.Fatalf("retract: %v", r)
	}
	until(t, 20*time.Second, "the retraction", func() bool { return len(asks(p).entries()) == stories-1 })
	until(t, 20*time.Second, "the other's entries", func() bool {
		return len(command(t, "query", "--theme", "news", "--provider", "other", "--json", "--data", p.data).entries()) == 3
	})
	want := asks(p).ids()

	a := newAssociation(t, "news=first@"+o.feed(newFeed("first", 1)))
	code := a.code()
	a.refuses("stop it first", "network", "move", code, "--data", p.data)
	if exit := p.stop(t, 10*time.Second); exit != 0 {
		t.Fatalf("exit %d", exit)
	}
	other.kill()

	// Killed after ever longer times, until one move ends by itself.
	kills, cut := 0, map[string]int{}
	for wait := 5 * time.Millisecond; ; wait += 15 * time.Millisecond {
		move := start(t, "network", "move", code, "--json", "--data", p.data)
		select {
		case <-move.done:
		case <-time.After(wait):
			move.signal(syscall.SIGKILL)
			<-move.done
			kills++
		}
		_, store := os.Stat(filepath.Join(p.data, "store"))
		_, moving := os.Stat(filepath.Join(p.data, "moving"))
		_, whole := os.Stat(filepath.Join(p.data, "moving", "whole"))
		_, former := os.Stat(filepath.Join(p.data, "former", "store"))
		cut[fmt.Sprintf("store %t, moving %t, whole %t, former %t", store == nil, moving == nil, whole == nil, former == nil)]++
		if former == nil && moving != nil {
			break
		}
		if former != nil && store != nil {
			t.Fatal("the store is nowhere")
		}
		if kills > 300 {
			t.Fatal("no move ended")
		}
	}
	t.Logf("%d moves were killed: %v", kills, cut)

	n.start(p)
	for _, q := range []*peer{p, a.first} {
		until(t, 30*time.Second, "the entries in the new network", func() bool { return slices.Equal(asks(q).ids(), want) })
	}
	if got := command(t, "query", "--theme", "news", "--provider", "other", "--json", "--data", p.data); len(got.entries()) != 0 {
		t.Errorf("entries of the old network are shown: %v", got)
	}
	f.add("own news", "about things", time.Time{})
	until(t, 20*time.Second, "what is published there", func() bool { return len(asks(a.first).entries()) == stories })
}

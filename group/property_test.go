package group

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/placement"
	"github.com/feedring/feedring/internal/fingerprint"
)

func newTestMachine(t testing.TB, self feedring.PeerID) *Machine {
	t.Helper()
	m, err := New(Config{Theme: testTheme, Self: self, Refresh: time.Second, Attempts: 3, Freshness: 24 * time.Hour, Seed: 7}, State{}, testStart)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func randomRow(rng *rand.Rand) Row {
	r := Row{
		Group: testTheme.Group(), Peer: feedring.PeerID(fmt.Sprint("p", rng.IntN(4))),
		Incarnation: uint64(rng.IntN(3)), Version: uint64(rng.IntN(3)), Left: rng.IntN(6) == 0,
		Admitted: testStart.Add(time.Duration(rng.IntN(3)) * time.Second),
	}
	for i := range rng.IntN(3) {
		r.Feeds = append(r.Feeds, feedring.Feed{URL: fmt.Sprint("https://", i), Epoch: uint64(rng.IntN(2))})
	}
	return r
}

func catalogueOf(m *Machine) map[feedring.PeerID]uint64 {
	out := map[feedring.PeerID]uint64{}
	for p, mem := range m.members {
		out[p] = fingerprint.Of(mem.row)
	}
	return out
}

// S11: rows may come in any order, any number of times.
func TestMergeOrderDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		rows := make([]Row, 12)
		for i := range rows {
			rows[i] = randomRow(rng)
		}
		want := map[feedring.PeerID]uint64(nil)
		for range 5 {
			m := newTestMachine(t, "self")
			m.joining.active = true
			for _, i := range append(rng.Perm(len(rows)), rng.Perm(len(rows))...) {
				m.mergeOf(rows[i].Peer, &rows[i])
			}
			if got := catalogueOf(m); want == nil {
				want = got
			} else if !maps.Equal(got, want) {
				t.Fatalf("%v\n%v", got, want)
			}
		}
	}
}

// The lookup's choice for D > F against a dumb reading of the rule.
func TestLookupAgainstOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		m := newTestMachine(t, "self")
		m.Step(testStart, Establish{})
		m.Step(testStart, Persisted{Token: m.token})
		now := testStart.Add(time.Minute)
		m.advanceClock(now)
		for i := range 6 {
			r := Row{Group: m.group, Peer: feedring.PeerID(fmt.Sprint("p", i)), Incarnation: 1, Admitted: testStart.Add(time.Duration(i))}
			r.Feeds = []feedring.Feed{{URL: fmt.Sprint("https://f", rng.IntN(4)), Provider: feedring.Provider(fmt.Sprint("f", rng.IntN(3)))}}
			r.From = now.Add(-time.Duration(rng.IntN(48)) * time.Hour)
			if rng.IntN(3) == 0 {
				r.Backfilling = []feedring.FeedRef{{URL: fmt.Sprint("https://f", rng.IntN(4)), Publisher: feedring.PeerID(fmt.Sprint("p", rng.IntN(6)))}}
			}
			m.joining.active = true
			m.mergeOf(r.Peer, &r)
			m.placer.OnLoad(r.Peer, rng.IntN(5))
			m.members[r.Peer].away = rng.IntN(5) == 0
		}
		m.changedRows()
		since := now.Add(-time.Duration(rng.IntN(23)) * time.Hour)
		feeds := m.matches("f1")
		if len(feeds) == 0 {
			continue
		}
		got := m.placer.Able(feeds, times.Later(now.Add(-24*time.Hour), since))
		nearly := slices.IndexFunc(got, func(p feedring.PeerID) bool { return len(m.placer.Lacking(p, feeds)) > 0 })
		if nearly >= 0 {
			if slices.ContainsFunc(got[nearly:], func(p feedring.PeerID) bool { return len(m.placer.Lacking(p, feeds)) == 0 }) {
				t.Fatalf("%v: who lacks something goes before who does not", got)
			}
			got = got[:nearly]
		}
		if want := oracle(m, feeds, since); len(want) != min(len(got), len(want)) || !slices.Equal(want[:min(len(want), placement.MaxCandidates)], got) {
			t.Fatalf("chose %v, want %v", got, want)
		}
	}
}

func oracle(m *Machine, feeds []catalogue.Publication, since time.Time) []feedring.PeerID {
	var able []*member
	for _, mem := range m.members {
		whole := !mem.away && !mem.row.Left
		for _, f := range feeds {
			if f.Ref.Publisher != mem.row.Peer && mem.row.From.After(since) || slices.Contains(mem.row.Backfilling, f.Ref) {
				whole = false
			}
		}
		if whole {
			able = append(able, mem)
		}
	}
	slices.SortFunc(able, func(a, b *member) int {
		return cmp.Or(cmp.Compare(m.placer.LoadOf(a.row.Peer), m.placer.LoadOf(b.row.Peer)), catalogue.CompareRank(a.row, b.row))
	})
	var out []feedring.PeerID
	for _, mem := range able {
		out = append(out, mem.row.Peer)
	}
	return out
}

// A clone goes on exactly like its original, and does not disturb it.
func TestCloneAndFingerprint(t *testing.T) {
	c := newCluster(11)
	ids := c.group(4)
	c.publish(ids[1], "https://p01.example/rss")
	c.run(time.Second)
	for _, id := range ids {
		m := c.nodes[id].m
		before := m.Fingerprint()
		clone := m.Clone()
		if clone.Fingerprint() != before {
			t.Fatal("a clone differs from its original")
		}
		inputs := []Input{
			Tick{}, Describe{Feeds: []feedring.Feed{{URL: "https://other/"}}}, Publish{Batch: 1, URL: "https://other/", Entries: 1},
			Receive{From: "client", Message: Place{Header: Header{Group: m.group}, Client: "c"}}, Depart{},
		}
		for i, in := range inputs {
			clone.Step(c.now.Add(time.Duration(i)*time.Second), in)
		}
		if m.Fingerprint() != before {
			t.Fatal("stepping a clone changed its original")
		}
		for i, in := range inputs {
			m.Step(c.now.Add(time.Duration(i)*time.Second), in)
		}
		if m.Fingerprint() != clone.Fingerprint() {
			t.Fatal("a clone did not go on like its original")
		}
	}
}

func TestSameSeedSameRun(t *testing.T) {
	run := func() uint64 {
		c := newCluster(21)
		ids := c.group(5)
		c.crash(ids[0])
		c.run(5 * time.Second)
		return c.nodes[ids[1]].m.Fingerprint()
	}
	if first, again := run(), run(); first != again {
		t.Error("two runs with one seed differ")
	}
}

package group

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// TestRebaseKnowsAllInstants holds the instants in a machine's state against
// what Rebase does about each: one that is added must be thought of there.
func TestRebaseKnowsAllInstants(t *testing.T) {
	moved := []string{
		"Ledger.inquiry", "Ledger.last", "Ledger.listed", "Ledger.met", "Ledger.outbid", "Ledger.purged", "Local.since", "newcomer.Since", "newcomers.began", "entry.at", "joining.heard", "joining.sent", "joining.yieldAt",
		"lead.askedAt", "lead.suspectedAt", "lead.heard", "lead.since", "load.told", "member.first", "member.heard", "member.since",
		"probe.sent", "rareState.probed", "rareState.staled", "rareState.unfit", "rareState.wanted", "suspicion.deferred", "word.at",
	}
	fixed := []string{"Machine.now"}
	dates := []string{"Row.Admitted", "Row.From", "State.Dropped", "State.From", "Vouch.At", "fork.until", "terms.formerAdmission"}
	var other []string // of feeds, clients, looks at sites, lost disks and large groups
	for _, at := range instants(reflect.TypeFor[Machine]()) {
		known := slices.Concat(moved, fixed, dates)
		if !slices.Contains(known, at) {
			other = append(other, at)
		}
	}
	want := []string{
		"Holding.changed", "Identity.last", "Identity.since", "Member.reportedAt", "Replicator.askedAt", "Replicator.clearedAt", "Window.began", "assignedFeed.since", "candidate.at", "candidate.told", "candidate.vainUntil", "check.due", "check.last", "check.vouchedAt",
		"copyMark.since", "datedFetch.at", "failedStandIn.until", "graft.begun", "lookup.due", "lookup.since", "memberFeed.askedToFetchAt", "memberFeed.failedAt", "memberFeed.measuredAt", "memberFeed.requestedAt", "memberFeed.since",
		"memberFeed.validUntil", "memberFeed.waitingSince", "orphan.back", "orphan.looked", "orphan.short", "orphan.since", "seek.since", "shares.toldTill",
	}
	if !slices.Equal(other, want) {
		t.Errorf("Rebase does not know of\n%q", other)
	}
}

// instants lists the fields of type time.Time that t leads to, derived ones
// left out: "member.heard".
func instants(t reflect.Type) []string {
	var list []string
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			look(t.Elem())
		case reflect.Map:
			look(t.Key())
			look(t.Elem())
		case reflect.Struct:
			name, _, _ := strings.Cut(t.Name(), "[")
			for i := range t.NumField() {
				f := t.Field(i)
				if _, excused := f.Tag.Lookup("state"); excused {
					continue
				}
				if f.Type == reflect.TypeFor[time.Time]() {
					list = append(list, name+"."+f.Name)
				} else {
					look(f.Type)
				}
			}
		}
	}
	look(t)
	slices.Sort(list)
	return list
}

// TestRebaseLetsTimePass: a machine for which time was rebased does the same,
// with timers as far away, as one that waited.
func TestRebaseLetsTimePass(t *testing.T) {
	c := newCluster(1)
	for i, id := range []string{"a", "b", "c"} {
		n := c.start(feedring.PeerID(id))
		if i == 0 {
			c.step(n, Establish{})
		} else {
			c.step(n, Enter{Via: c.ids()[:1]})
		}
		c.run(20 * time.Millisecond)
	}
	c.run(15 * time.Second)
	c.crash("a")
	waits, rebased := c.nodes["b"].m.Clone(), c.nodes["b"].m.Clone()
	const by = 100 * time.Millisecond
	start := c.now
	rebased.Rebase(by, 1)
	for i := range 20 {
		at := start.Add(time.Duration(i) * by)
		x, y := verbs(waits.Step(at.Add(by), Tick{})), verbs(rebased.Step(at, Tick{}))
		x = append(x, verbs(waits.Step(at.Add(by), Persisted{Token: waits.token}))...)
		y = append(y, verbs(rebased.Step(at, Persisted{Token: rebased.token}))...)
		if !slices.Equal(x, y) {
			t.Fatalf("after %d: %v, but rebased %v", i, x, y)
		}
	}
	if !waits.lead.serving || !rebased.lead.serving {
		t.Errorf("serving: %v, rebased: %v", waits.lead.serving, rebased.lead.serving)
	}
}

func verbs(outs []Output) []string {
	var list []string
	for _, o := range outs {
		if s, ok := o.(*Send); ok {
			list = append(list, string(s.To)+" "+string(s.Message.Verb()))
		}
	}
	return list
}

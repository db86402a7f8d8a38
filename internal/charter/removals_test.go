package charter

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

const (
	entry     = feedring.EntryID("0123456789abcdef0123456789abcdef")
	otherID   = feedring.EntryID("ffffffffffffffffffffffffffffffff")
	theFeed   = "https://a.example/feed.xml"
	otherFeed = "https://b.example/feed.xml"
)

func removal(by feedring.PeerID, t Target, at time.Time, restores ...ID) Statement {
	return Statement{Removal: &Removal{
		Target: t, At: at, Until: at.Add(removedFor), Restores: restores, Seal: seal(by, fmt.Sprint("r", t, at, restores)),
	}}
}

func of(url string, by feedring.PeerID) feedring.FeedRef {
	return feedring.FeedRef{URL: url, Publisher: by}
}

// moderated is founded with the moderators m and n.
func moderated() *Roll {
	r, _, _ := founded()
	return r.Merge([]Statement{
		credential("root1", "m", Invited|Moderate, start, 3650*day), credential("root2", "n", Invited|Moderate, start, 3650*day),
	}, start)
}

func TestWhatARemovalNames(t *testing.T) {
	r := moderated()
	if r.RemovesAny() || r.Removes(of(theFeed, "a"), entry) {
		t.Error("an empty roll removes something")
	}
	for name, c := range map[string]struct {
		target                       Target
		here, otherEntry, mirror, by bool
	}{
		"an entry, whoever publishes it":   {EntryTarget(entry), true, false, true, false},
		"a feed, whoever publishes it":     {FeedTarget(theFeed), true, true, true, false},
		"the same by its other scheme":     {"http://a.example/feed.xml", true, true, true, false},
		"all of a publisher":               {PeerTarget("a"), true, true, false, true},
		"something of a later version":     {"example.org", false, false, false, false},
		"a feed that is not there":         {FeedTarget("https://a.example/"), false, false, false, false},
		"a publisher that is not a peer's": {PeerTarget("nobody"), false, false, false, false},
	} {
		r := r.Merge([]Statement{removal("m", c.target, start)}, start)
		got := []bool{
			r.Removes(of(theFeed, "a"), entry), r.Removes(of(theFeed, "a"), otherID), r.Removes(of(theFeed, "mirror"), entry), r.Removes(of(otherFeed, "a"), otherID),
		}
		if want := []bool{c.here, c.otherEntry, c.mirror, c.by}; !slices.Equal(got, want) {
			t.Errorf("%s: hides %v, want %v", name, got, want)
		}
		if r.RemovesFeed(of(theFeed, "a")) != c.otherEntry || r.Removes(of("", ""), "") {
			t.Errorf("%s: of feeds", name)
		}
		if r.Hash() == r.Whole() || !r.Has(removal("m", c.target, start).ID()) {
			t.Errorf("%s: it is not in the roll, or peers of versions without removals would see it", name)
		}
	}
}

// TestWhoRemoves: roots, and whom a root gave the right to moderate.
func TestWhoRemoves(t *testing.T) {
	target := EntryTarget(entry)
	for by, may := range map[feedring.PeerID]bool{"root1": true, "m": true, "x": false, "a": false, "stranger": false, "made by x": false} {
		r := moderated().Merge([]Statement{credential("x", "made by x", Invited|Moderate, start, day)}, start)
		if r = r.Merge([]Statement{removal(by, target, start)}, start); r.Removes(of(theFeed, "a"), entry) != may {
			t.Errorf("by %s: want %t", by, may)
		}
		if by != "x" && r.ByRoot(by) == false && r.ByAdmin(by) != may {
			t.Errorf("whether a statement of %s is worth a check: want %t", by, may)
		}
	}
	// After the moderator's time the statement says nothing, before it ended it does.
	late := moderated().Merge([]Statement{removal("m", target, start.Add(3650*day))}, start)
	if late.RemovesAny() {
		t.Error("a removal that was signed when the credential had ended holds")
	}
	former := moderated().Merge([]Statement{
		credential("root1", "former", Moderate, start, 5*time.Minute), credential("root1", "former", adminRights, start, 400*day), removal("former", target, start.Add(6*time.Minute)),
	}, start)
	if former.RemovesAny() {
		t.Error("a removal that was signed when the right to moderate had ended holds, as its signer still has others")
	}
	early := moderated().Merge([]Statement{removal("m", target, start.Add(day))}, start.Add(day))
	renewed := early.Merge([]Statement{credential("root1", "m", Invited|Moderate, start.Add(3000*day), 3650*day)}, start)
	if now := start.Add(3651 * day); early.Merge(nil, now).RemovesAny() {
		t.Error("a removal outlives its moderator's credential")
	}
	if renewed.Merge(nil, start.Add(3649*day)).RemovesAny() == false {
		t.Error("a removal ended although its moderator's credential was given anew")
	}
}

// TestAnExpelledModeratorsRemovalsEnd: those from --since on, and those that restore as well.
func TestAnExpelledModeratorsRemovalsEnd(t *testing.T) {
	before, after := EntryTarget(entry), FeedTarget(otherFeed)
	now, since := start.Add(10*day), start.Add(5*day)
	r := moderated()
	r = r.Merge([]Statement{removal("m", before, start.Add(day)), removal("m", after, start.Add(6*day)), removal("n", PeerTarget("b"), start.Add(day))}, now)
	back, err := r.Moderate(PeerTarget("b"), true, "m", start.Add(7*day), "")
	if err != nil {
		t.Fatal(err)
	}
	back.Seal = seal("m", "back")
	r = r.Merge([]Statement{{Removal: back}}, now)
	if r.RemovesFeed(of(theFeed, "b")) {
		t.Fatal("m restored what n removed, and it is hidden")
	}
	r = r.Merge([]Statement{r.expel("root1", "m", since, now)}, now)
	if !r.Removes(of(theFeed, "a"), entry) || r.RemovesFeed(of(otherFeed, "a")) || !r.RemovesFeed(of(theFeed, "b")) {
		t.Error("want what it removed before, and not what it removed and restored since")
	}
	// Dated back, it is not one that the expulsion knows.
	r = r.Merge([]Statement{removal("m", FeedTarget(theFeed), start.Add(2*day))}, now)
	if r.RemovesFeed(of(theFeed, "a")) {
		t.Error("a removal that bears an earlier date holds")
	}
}

func TestRestoring(t *testing.T) {
	target, now := FeedTarget(theFeed), start.Add(day)
	restore := func(r *Roll, by feedring.PeerID, at time.Time) (*Roll, error) {
		m, err := r.Moderate("http://a.example/feed.xml", true, by, at, "")
		if err != nil {
			return r, err
		}
		m.Seal = seal(by, fmt.Sprint("back", at))
		return r.Merge([]Statement{{Removal: m}}, now), nil
	}
	r := moderated()
	if _, err := restore(r, "m", now); !errors.Is(err, ErrNotRemoved) {
		t.Errorf("nothing is removed: %v", err)
	}
	first := removal("m", target, now)
	r = r.Merge([]Statement{first}, now)
	if _, err := r.Moderate(target, false, "n", now, ""); !errors.Is(err, ErrRemoved) {
		t.Errorf("removed twice: %v", err)
	}
	r, err := restore(r, "n", now)
	if err != nil || r.RemovesAny() {
		t.Errorf("another moderator restores: %v", err)
	}
	// What was restored stays so, whatever dates the statements bear; a new removal holds.
	r = r.Merge([]Statement{first}, now)
	if r.RemovesAny() {
		t.Error("the removal came again")
	}
	r = r.Merge([]Statement{removal("m", target, now.Add(-time.Hour))}, now)
	if !r.RemovesAny() {
		t.Error("a new removal is hidden by a restoration that does not name it")
	}
	// A root's is a root's to take back.
	r = r.Merge([]Statement{removal("root1", target, now)}, now)
	if _, err := restore(r, "n", now); !errors.Is(err, ErrRootRemoved) {
		t.Errorf("a moderator restores what a root removed: %v", err)
	}
	forced := r.Merge([]Statement{removal("n", target, now, removal("root1", target, now).ID(), removal("m", target, now.Add(-time.Hour)).ID())}, now)
	if !forced.RemovesAny() {
		t.Error("a statement that a moderator made by hand took back what a root removed")
	}
	if r, err = restore(r, "root2", now); err != nil || r.RemovesAny() {
		t.Errorf("another root restores: %v", err)
	}
}

// TestRemovalsAreBounded: a moderator pushes nobody else's removals out, and members
// neither; in any order the same stay.
func TestRemovalsAreBounded(t *testing.T) {
	all := []Statement{removal("n", EntryTarget(entry), start), removal("root1", FeedTarget(theFeed), start)}
	for i := range MaxRemovalsOfOne + 500 {
		all = append(all, removal("m", EntryTarget(feedring.EntryID(fmt.Sprintf("%032x", i))), start.Add(-time.Duration(i)*time.Second)))
	}
	r := moderated()
	whole := r.Merge(all, start)
	parts := r.Merge(all[200:900], start).Merge(all[:300], start).Merge(all, start)
	held := len(whole.Have(true)) - len(whole.Have(false))
	if held != MaxRemovalsOfOne+2 || whole.Whole() != parts.Whole() || whole.Hash() != r.Hash() {
		t.Errorf("%d removals, want %d; equal: %t", held, MaxRemovalsOfOne+2, whole.Whole() == parts.Whole())
	}
	if !whole.Removes(of("x", "y"), entry) || !whole.RemovesFeed(of(theFeed, "y")) {
		t.Error("others' removals were pushed out")
	}
	if _, err := whole.Moderate(FeedTarget(otherFeed), false, "m", start, ""); !errors.Is(err, ErrManyRemovals) {
		t.Errorf("one more of m: %v", err)
	}
	if _, err := whole.Moderate(FeedTarget(otherFeed), false, "root2", start, ""); err != nil {
		t.Errorf("one of a root: %v", err)
	}
	var many []Statement
	for i := range MaxRemovals + 10 {
		many = append(many, removal("root1", EntryTarget(feedring.EntryID(fmt.Sprintf("%032x", i))), start))
	}
	if full := whole.Merge(many, start); len(full.Have(true))-len(full.Have(false)) != MaxRemovals || full.Hash() != r.Hash() {
		t.Errorf("%d removals in a full roll", len(full.Have(true))-len(full.Have(false)))
	}
}

// A moderator dates nothing ahead: what it signed would count as of a time when another of its credentials may hold.
func TestRemovalsDatedAhead(t *testing.T) {
	for ahead, taken := range map[time.Duration]bool{0: true, skew: true, skew + 1: false, 300 * day: false} {
		one := removal("m", EntryTarget(entry), start.Add(ahead))
		r := moderated().Merge([]Statement{one}, start)
		if r.Removes(of(theFeed, "a"), entry) != taken || r.Has(one.ID()) != taken {
			t.Errorf("dated %s ahead it is taken: %t", ahead, !taken)
		}
		if r = r.Merge([]Statement{one}, start.Add(ahead)); !r.Removes(of(theFeed, "a"), entry) {
			t.Errorf("dated %s ahead it is not taken when its time came", ahead)
		}
	}
}

package charter

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const day = 24 * time.Hour

func network() *Charter {
	return &Charter{Label: "L", Mode: Closed, Roots: []feedring.PeerID{"root1", "root2"}, Text: []byte("text")}
}

// seal stands for a signature that was checked.
func seal(signer feedring.PeerID, what string) *feedring.Seal {
	return &feedring.Seal{Signer: signer, Payload: []byte(what), Signature: []byte(signer)}
}

func credential(by, of feedring.PeerID, rights Rights, at time.Time, life time.Duration, lifts ...ID) Statement {
	return Statement{Credential: &Credential{
		Subject: of, Rights: rights, NotBefore: at, Expires: at.Add(life), Lifts: lifts, Seal: seal(by, fmt.Sprint("c", of, rights, at, life, lifts)),
	}}
}

// expel is the expulsion that a signer with this roll makes.
func (r *Roll) expel(by, of feedring.PeerID, since, at time.Time) Statement {
	e := r.Expel(of, since, at, "", r.isRoot(by))
	e.Seal = seal(by, fmt.Sprint("e", of, since, at, e.Keeps))
	return Statement{Expulsion: &e}
}

const adminRights = Invited | Admit | Expel

// founded is a network with two admins, x and z, and the members a (of x) and b (of z).
func founded() (r *Roll, a, b Statement) {
	a, b = credential("x", "a", Invited, start, 400*day), credential("z", "b", Invited, start, 400*day)
	r = NewRoll(network()).Merge([]Statement{
		credential("root1", "x", adminRights, start, 3650*day), credential("root1", "z", adminRights, start, 3650*day), a, b,
	}, start)
	return r, a, b
}

func (r *Roll) must(t *testing.T, at time.Time, members ...feedring.PeerID) {
	t.Helper()
	for _, p := range []feedring.PeerID{"x", "z", "a", "b"} {
		rights, _ := r.Rights(p, at)
		if want := slices.Contains(members, p); want != (rights != 0) {
			t.Errorf("%s has the rights %v, want a member: %t", p, rights.List(), want)
		}
	}
}

func TestChainsLeadToARoot(t *testing.T) {
	r, _, _ := founded()
	r.must(t, start, "x", "z", "a", "b")
	r = r.Merge([]Statement{
		credential("a", "made by a member", Invited, start, day), credential("stranger", "stranger", adminRights, start, day),
		credential("stranger", "friend", Invited, start, day), credential("x", "too much", adminRights|Moderate, start, day),
	}, start)
	for _, p := range []feedring.PeerID{"made by a member", "stranger", "friend", "root1", ""} {
		if rights, _ := r.Rights(p, start); rights != 0 {
			t.Errorf("%q has %v", p, rights.List())
		}
	}
	if rights, _ := r.Rights("too much", start); rights != Invited {
		t.Errorf("an admin gave %v", rights.List())
	}
	r.must(t, start.Add(-skew), "x", "z", "a", "b")
	r.must(t, start.Add(-skew-1))
	r.must(t, start.Add(400*day), "x", "z")
}

// TestAMemberIsNoLongerThanItsAdmin: what an admin signed ends with its own credential.
func TestAMemberIsNoLongerThanItsAdmin(t *testing.T) {
	r := NewRoll(network()).Merge([]Statement{credential("root2", "x", adminRights, start, 10*day), credential("x", "a", Invited, start, 400*day)}, start)
	r.must(t, start.Add(10*day-1), "x", "a")
	r.must(t, start.Add(10*day))
	if _, until := r.Rights("a", start); !until.Equal(start.Add(10 * day)) {
		t.Errorf("until %s", until)
	}
}

func TestAnExpulsionEndsAllCredentials(t *testing.T) {
	r, _, _ := founded()
	now := start.Add(day)
	r = r.Merge([]Statement{r.expel("x", "b", now, now)}, now)
	r.must(t, now, "x", "z", "a")
	if !r.Expelled("b", now) || r.Expelled("a", now) {
		t.Error("who was expelled is not known")
	}
	// Another admin's newer credential is of no use, nor is a root's that does not take it back.
	later := r.Merge([]Statement{credential("z", "b", Invited, now.Add(day), 400*day), credential("root1", "b", Invited, now.Add(day), 400*day)}, now)
	later.must(t, now.Add(day), "x", "z", "a")
	back := later.Merge([]Statement{credential("root2", "b", Invited, now.Add(2*day), 400*day, later.Lifts("b")...)}, now)
	back.must(t, now.Add(2*day), "x", "z", "a", "b")
	for _, test := range []struct {
		roll   *Roll
		barred bool
	}{{later, true}, {back, false}} {
		if test.roll.Barred("b", now.Add(2*day)) != test.barred || test.roll.ExpelledBy("b", "x", now.Add(2*day), now.Add(2*day)) != test.barred {
			t.Errorf("b is barred: %t", !test.barred)
		}
	}
	if later.ExpelledBy("b", "z", now, now) || later.ExpelledBy("b", "x", start, now) || later.Barred("a", now) {
		t.Error("another admin's expulsion, or one since an earlier time, ends no more")
	}
	// Then admins renew it again, and another expulsion ends it again.
	renewed := back.Merge([]Statement{credential("z", "b", Invited, now.Add(300*day), 400*day)}, now)
	renewed.must(t, now.Add(650*day), "x", "z", "b")
	again := renewed.Merge([]Statement{renewed.expel("z", "b", now.Add(3*day), now.Add(3*day))}, now)
	again.must(t, now.Add(3*day), "x", "z", "a")
}

// TestAnExpelledAdminsStatementsEnd: those that the one who expelled it did not know,
// whatever date they bear.
func TestAnExpelledAdminsStatementsEnd(t *testing.T) {
	r, _, _ := founded()
	now := start.Add(10 * day)
	out := r.expel("root1", "x", now, now)
	r = r.Merge([]Statement{out}, now)
	r.must(t, now, "z", "a", "b")
	r = r.Merge([]Statement{credential("x", "dated back", Invited, start, 400*day), r.expel("x", "b", start, start.Add(time.Hour))}, now)
	r.must(t, now, "z", "a", "b")
	if rights, _ := r.Rights("dated back", now); rights != 0 {
		t.Error("a credential that bears an earlier date holds")
	}
	for _, m := range r.Members(now) {
		if want := m.Peer == "dated back"; m.Ended != want {
			t.Errorf("members show %s as ended: %t", m.Peer, m.Ended)
		}
	}
	if !r.MayHaveAdmitted("x") || r.MayHaveAdmitted("a") {
		t.Error("who admits members is not known")
	}
	// Since an earlier time it ends what was signed from then on.
	r, _, _ = founded()
	r = r.Merge([]Statement{r.expel("root1", "x", start, now)}, now)
	r.must(t, now, "z", "b")
}

func TestAdminsThatExpelEachOther(t *testing.T) {
	r, _, _ := founded()
	now := start.Add(day)
	x, z := r.expel("x", "z", now, now), r.expel("z", "x", now, now)
	both := r.Merge([]Statement{x, z}, now)
	both.must(t, now, "a", "b") // what both signed before stays
	// What either expels besides is ended by the other's expulsion.
	more := both.Merge([]Statement{both.expel("x", "b", now, now.Add(time.Hour))}, now)
	more.must(t, now, "a", "b")
	// A root decides: it admits x anew, or expels it, which ends what x said of z.
	later := now.Add(2 * time.Hour)
	back := credential("root2", "x", adminRights, later, 3650*day, more.Lifts("x")...)
	more.Merge([]Statement{back}, now).must(t, later, "x", "a", "b")
	more.Merge([]Statement{more.expel("root2", "x", later, later)}, now).must(t, later, "z", "a", "b")
}

// TestARootEndsARetaliation: an expelled admin can end what the other one signed, until a
// root expels it, whatever date its expulsion bears.
func TestARootEndsARetaliation(t *testing.T) {
	r, _, _ := founded()
	now := start.Add(day)
	r = r.Merge([]Statement{r.expel("z", "x", now, now), r.expel("x", "z", start, start.Add(time.Minute))}, now)
	r.must(t, now, "a")
	r.Merge([]Statement{r.expel("root1", "x", now, now)}, now).must(t, now, "z", "a", "b")
}

// TestARetaliationExpelsNobodyElse: an expelled admin takes the one out that expelled
// it, and no other.
func TestARetaliationExpelsNobodyElse(t *testing.T) {
	r, _, _ := founded()
	now := start.Add(day)
	r = r.Merge([]Statement{r.expel("z", "x", now, now)}, now)
	r.must(t, now, "z", "a", "b")
	r = r.Merge([]Statement{r.expel("x", "z", now, start.Add(time.Minute)), r.expel("x", "b", start, start.Add(time.Minute))}, now)
	r.must(t, now, "a", "b")
}

// TestMembersExpelNobody: neither a member nor a stranger, and nobody a root.
func TestMembersExpelNobody(t *testing.T) {
	r, _, _ := founded()
	now := start.Add(day)
	r.Merge([]Statement{
		r.expel("a", "b", now, now), r.expel("stranger", "x", now, now), r.expel("x", "root1", now, now),
		r.expel("x", "b", now, start.Add(4000*day)),
	}, now).must(t, now, "x", "z", "a", "b")
}

// TestAnOldRollTakesNothingBack: merging a restored roll is a union, in any order.
func TestAnOldRollTakesNothingBack(t *testing.T) {
	old, _, _ := founded()
	now := start.Add(day)
	fresh := old.Merge([]Statement{old.expel("x", "b", now, now)}, now)
	if merged := fresh.Merge(old.Statements(), now); merged != fresh {
		t.Error("an old roll changed a new one")
	}
	merged := old.Merge(fresh.Statements(), now)
	if merged.Hash() != fresh.Hash() || merged.Merge(fresh.Statements(), now) != merged {
		t.Error("the merged rolls differ")
	}
	lacks, wanted := old.Compare(fresh.Have(true), true)
	if len(lacks) != 0 || len(wanted) != 1 || len(fresh.Find(wanted)) != 1 {
		t.Errorf("compared: lacks %d, wants %d", len(lacks), len(wanted))
	}
	var one *Roll = NewRoll(network())
	for _, s := range slices.Backward(fresh.Statements()) { // members before those who admitted them
		one = one.Merge([]Statement{s}, now)
	}
	if one = one.Merge(fresh.Statements(), now); one.Hash() != fresh.Hash() {
		t.Error("the order of statements matters")
	}
}

func TestARollIsBounded(t *testing.T) {
	admin := credential("root1", "x", adminRights, start, 3650*day)
	half, all := []Statement{admin}, []Statement{admin}
	for i := range MaxRoll + 500 {
		s := credential("x", feedring.PeerID(fmt.Sprint("m", i)), Invited, start, day+time.Duration(i)*time.Second)
		all = append(all, s)
		if i%2 == 0 {
			half = append(half, s)
		}
	}
	whole := NewRoll(network()).Merge(all, start)
	parts := NewRoll(network()).Merge(half, start).Merge(all, start)
	if len(whole.Have(true)) != MaxRoll || whole.Hash() != parts.Hash() {
		t.Errorf("%d statements; equal: %t", len(whole.Have(true)), whole.Hash() == parts.Hash())
	}
	if rights, _ := whole.Rights("x", start); !rights.Has(Admit) {
		t.Error("what a root signed gave way")
	}
	if left := whole.Merge(nil, start.Add(20*day)); len(left.Have(true)) != 1 {
		t.Errorf("%d statements are left when all but one have expired", len(left.Have(true)))
	}
}

func TestProofs(t *testing.T) {
	r, a, _ := founded()
	if proof := r.Proof("a", start); len(proof) != 2 || proof[0].ID() != a.ID() {
		t.Errorf("a's chain has %d statements", len(proof))
	}
	now := start.Add(day)
	out := r.Merge([]Statement{r.expel("z", "a", now, now)}, now)
	old, _, _ := founded()
	told := old.Merge(out.Proof("a", now), now)
	told.must(t, now, "x", "z", "b")
}

func TestNamesOfNetworks(t *testing.T) {
	c, other := network(), network()
	other.Text = []byte("text of another")
	if !Names(c.Network()) || len(c.Network()) != 28 || c.Network() == other.Network() {
		t.Error(c.Network(), other.Network())
	}
	for _, name := range []string{"main", "x-", "x-short", "x-" + c.Network(), "y" + c.Network()[1:], c.Network() + "a", "x-1exgom746aawv4p4zhz53opzm4"} {
		if Names(name) {
			t.Errorf("%s is taken for a charter's", name)
		}
	}
}

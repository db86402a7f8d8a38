package fleet

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// someRow is one of few versions of one row, so that equal ones come, too.
func someRow(r *rand.Rand) Row {
	row := Row{Key: Key{Feed, 1 << 60}, Version: 1 + r.Uint64N(3)}
	if r.IntN(3) == 0 {
		row.Deleted = now.Add(time.Duration(r.IntN(3)) * time.Second)
	} else {
		row.Value = []byte{'a' + byte(r.IntN(3))}
	}
	return row
}

// meet is what stays of rows that come in their order.
func meet(rows []Row) Row {
	stays := rows[0]
	for _, r := range rows[1:] {
		if r.Supersedes(&stays) {
			stays = r
		}
	}
	return stays
}

func TestRowsMeetToTheSameInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		rows := make([]Row, 2+r.IntN(6))
		for i := range rows {
			rows[i] = someRow(r)
		}
		first := meet(rows)
		rows = append(rows, rows[r.IntN(len(rows))]) // again
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		second := meet(rows)
		if !bytes.Equal(first.Encode(), second.Encode()) {
			t.Fatalf("%+v in one order, %+v in another, of %+v", first, second, rows)
		}
		half := 1 + r.IntN(len(rows)-1)
		if third := meet([]Row{meet(rows[half:]), meet(rows[:half])}); !bytes.Equal(first.Encode(), third.Encode()) {
			t.Fatalf("%+v at once, %+v by parts, of %+v", first, third, rows)
		}
	}
}

func TestTheTombstoneStaysThenTheHigherVersion(t *testing.T) {
	key := Key{User, 7}
	older, newer := Row{Key: key, Version: 1, Value: []byte("x")}, Row{Key: key, Version: 2, Value: []byte("x")}
	if !newer.Supersedes(&older) || older.Supersedes(&newer) {
		t.Error("an older version stays")
	}
	for version := range uint64(4) {
		deleted := Row{Key: key, Version: version + 1, Deleted: now}
		if !deleted.Supersedes(&newer) || newer.Supersedes(&deleted) {
			t.Errorf("version 2 supersedes the tombstone of version %d", version+1)
		}
	}
	if newer.Supersedes(&newer) {
		t.Error("a row supersedes itself")
	}
}

func TestASumTellsRowsAndNotTheirOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var rows []Row
	for i := range 40 {
		rows = append(rows, Row{Key: Key{Feed, ID(i)}, Version: 1, Value: []byte("v")})
	}
	var a, b Sum
	for i := range rows {
		a.Toggle(rows[i].Digest())
	}
	for _, i := range r.Perm(len(rows)) {
		b.Toggle(rows[i].Digest())
	}
	if a != b || a == (Sum{}) {
		t.Fatal("the sum depends on the order")
	}
	b.Toggle(rows[3].Digest())
	rows[3].Version++
	b.Toggle(rows[3].Digest())
	if a == b {
		t.Fatal("another version has the same sum")
	}
	for i := range rows {
		b.Toggle(rows[i].Digest())
	}
	if b != (Sum{}) {
		t.Fatal("no rows have a sum")
	}
}

func TestRowsThatAreNoneAreRefused(t *testing.T) {
	whole := Row{Key: Key{Feed, 5}, Version: 300, Value: []byte("{}")}
	if got, err := Decode(whole.Encode()); err != nil || got.Digest() != whole.Digest() {
		t.Fatalf("%+v, %v", got, err)
	}
	b := whole.Encode()
	for name, wrong := range map[string][]byte{
		"nothing":          nil,
		"a head":           b[:rowHead],
		"another format":   append([]byte{2}, b[1:]...),
		"no kind":          append([]byte{rowFormat, 'F'}, b[2:]...),
		"no version":       append(append(bytes.Clone(b[:rowHead]), 0, 0), "{}"...),
		"a long version":   append(append(bytes.Clone(b[:rowHead]), 0x81, 0x00, 0), "{}"...),
		"a huge version":   append(append(bytes.Clone(b[:rowHead]), bytes.Repeat([]byte{0xff}, 9)...), 1, 0, '{'),
		"no value":         append(bytes.Clone(b[:rowHead]), 1, 0),
		"a full tombstone": append(bytes.Clone(b[:rowHead]), 1, 9, '{'),
	} {
		if row, err := Decode(wrong); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, row, err)
		}
	}
	whole.Value = bytes.Repeat([]byte{'x'}, MaxRow-rowHead-3)
	if _, err := Decode(whole.Encode()); err != nil {
		t.Errorf("%d bytes: %v", len(whole.Encode()), err)
	}
	whole.Value = append(whole.Value, 'x')
	if _, err := Decode(whole.Encode()); !errors.Is(err, ErrLarge) || !errors.Is(whole.Valid(), ErrLarge) {
		t.Errorf("%d bytes: %v", len(whole.Encode()), err)
	}
}

func TestATombstoneEnds(t *testing.T) {
	r := Row{Key: Key{Feed, 1}, Version: 1, Deleted: now}
	if r.Expired(now.Add(Stays)) || !r.Expired(now.Add(Stays+time.Second)) {
		t.Error("not after 30 days")
	}
	there := Row{Key: r.Key, Version: 1, Value: []byte("x")}
	if there.Expired(now.Add(100 * Stays)) {
		t.Error("a row that is there ends")
	}
}

func TestASecretFallsIntoItsSlot(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 1000 {
		want := Slot(r.IntN(Slots))
		var random [SecretBytes]byte
		for i := range random {
			random[i] = byte(r.Uint32())
		}
		secret := want.Secret(random)
		got, ok := SlotOf(secret)
		id, named := IDOf(secret)
		if !ok || !named || got != want || id.Slot() != want || len(secret) != SecretLen {
			t.Fatalf("%s is of slot %d and its id %s of %d, not of %d", secret, got, id, id.Slot(), want)
		}
		if b, _ := secretBytes(secret); b[2] != random[2] || b[17] != random[17] || b[1]&3 != random[1]&3 {
			t.Fatal("a secret has less than it was given")
		}
		if id := want.ID(r.Uint64()); id.Slot() != want {
			t.Fatalf("%s is of slot %d, not %d", id, id.Slot(), want)
		}
	}
	good := Slot(1).Secret([SecretBytes]byte{})
	for _, bad := range []string{"", good[1:], good + "A", good[:23] + "=", good[:23] + "\n", good[:20] + "\r\n\r\n", strings.Repeat("+", SecretLen), base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, SecretBytes))} {
		if s, ok := SlotOf(bad); ok {
			t.Errorf("%q is of slot %d", bad, s)
		}
		if _, ok := IDOf(bad); ok {
			t.Errorf("%q has an id", bad)
		}
	}
}

func TestIDsAreReadAsTheyAreWritten(t *testing.T) {
	for _, good := range []string{"0000000000000000", "0123456789abcdef", "ffffffffffffffff"} {
		if id, ok := ParseID(good); !ok || id.String() != good {
			t.Errorf("%s: %s, %v", good, id, ok)
		}
	}
	for _, bad := range []string{"", "0", "0123456789ABCDEF", "+123456789abcdef", "0x23456789abcdef", "0123456789abcdef0", "0123456789abcde_"} {
		if id, ok := ParseID(bad); ok {
			t.Errorf("%q is %s", bad, id)
		}
	}
}

func TestAFeedIsOpenedByTheSecretOfItsRow(t *testing.T) {
	secret := Slot(9).Secret([SecretBytes]byte{1, 2, 3})
	id, _ := IDOf(secret)
	row := Row{Key: Key{Feed, id}, Version: 1, Value: []byte(`{"secret":"` + secret + `","theme":"news","q":"sel","limit":5,"created":"2026-05-01T12:00:00Z"}`)}
	if v, err := FeedOf(&row); err != nil || v.Theme != "news" || v.Words != "sel" || v.Limit != 5 || !v.Created.Equal(now) {
		t.Fatalf("%+v, %v", v, err)
	}
	row.ID++
	if v, err := FeedOf(&row); err == nil {
		t.Errorf("the secret of another row: %+v", v)
	}
	for _, bad := range []string{"", "{", `{"secret":7}`, `[]`} {
		row.Value = []byte(bad)
		if v, err := FeedOf(&row); err == nil {
			t.Errorf("%q: %+v", bad, v)
		}
	}
}

// FuzzDecode reads rows as other peers send them.
func FuzzDecode(f *testing.F) {
	for _, r := range []Row{{Key: Key{Feed, 5}, Version: 1, Value: []byte("{}")}, {Key: Key{User, 1 << 63}, Version: 300, Deleted: now}} {
		f.Add(r.Encode())
	}
	f.Add([]byte{rowFormat, 'f', 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode(b)
		if err != nil {
			return
		}
		if err := r.Valid(); err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		if !bytes.Equal(r.Encode(), b) {
			t.Fatalf("%x is written as %x", b, r.Encode())
		}
		if r.Kind == Feed {
			_, _ = FeedOf(&r)
		}
		next := Row{Key: r.Key, Version: r.Version + 1, Deleted: now}
		if !next.Supersedes(&r) || r.Supersedes(&next) {
			t.Fatal("the next version does not supersede it")
		}
	})
}

package signature

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"filippo.io/edwards25519"
)

// pair makes a key pair, the same for the same number.
func pair(n uint64) (ed25519.PublicKey, ed25519.PrivateKey) {
	var seed [32]byte
	chacha := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)})
	_, _ = chacha.Read(seed[:])
	private := ed25519.NewKeyFromSeed(seed[:])
	return private.Public().(ed25519.PublicKey), private
}

// same checks a signature by the table, made at once, and by crypto/ed25519, which
// must agree, and returns what they say.
func same(t *testing.T, public ed25519.PublicKey, message, signed []byte) bool {
	t.Helper()
	p, err := new(edwards25519.Point).SetBytes(public)
	want := ed25519.Verify(public, message, signed)
	if err != nil {
		if want {
			t.Fatalf("crypto/ed25519 takes the key %x", public)
		}
		return false
	}
	if got := valid(key(public), newTable(p.Negate(p), keyWidth), signed, message[:len(message)/2], message[len(message)/2:]); got != want {
		t.Fatalf("key %x, message %x, signature %x: %t, and %t by crypto/ed25519", public, message, signed, got, want)
	}
	return want
}

// TestValidIsEd25519s: what holds, and what was changed anywhere.
func TestValidIsEd25519s(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range uint64(40) {
		public, private := pair(n)
		message := fmt.Append(nil, "message ", n)
		signed := ed25519.Sign(private, message)
		if !same(t, public, message, signed) {
			t.Fatal("a good signature does not hold")
		}
		for range 5 {
			bad := slices.Clone(signed)
			bad[random.IntN(len(bad))] ^= 1 << random.IntN(8)
			if same(t, public, message, bad) {
				t.Fatalf("a changed signature holds: %x", bad)
			}
		}
		if same(t, public, append(message, 0), signed) {
			t.Fatal("it holds for another message")
		}
		other := slices.Clone(public)
		other[random.IntN(32)] ^= 1 << random.IntN(8)
		same(t, other, message, signed)
	}
}

// order is that of the group, which S must be less than.
var order, _ = new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)

// TestValidRefusesAGreatS: a signature cannot be written in a second way.
func TestValidRefusesAGreatS(t *testing.T) {
	public, private := pair(1)
	signed := ed25519.Sign(private, nil)
	s := slices.Clone(signed[32:])
	slices.Reverse(s)
	s = new(big.Int).Add(new(big.Int).SetBytes(s), order).FillBytes(make([]byte, 32))
	slices.Reverse(s)
	if same(t, public, nil, slices.Concat(signed[:32], s)) {
		t.Error("S plus the order of the group is taken")
	}
}

// odd are encodings of points of small order, and of points whose encoding is not
// the canonical one: with such keys implementations differ.
var odd = []string{
	"0100000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000080",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0000000000000000000000000000000000000000000000000000000000000080",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
}

// TestValidOfOddPoints tries all odd keys with all odd R, with S of zero and one, and
// messages until the outcome was met both ways.
func TestValidOfOddPoints(t *testing.T) {
	held := 0
	for _, a := range odd {
		public, err := hex.DecodeString(a)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range odd {
			signed, err := hex.DecodeString(r)
			if err != nil {
				t.Fatal(err)
			}
			signed = append(signed, make([]byte, 32)...)
			for n := range byte(16) {
				if same(t, public, []byte{n}, signed) {
					held++
				}
			}
			signed[32] = 1
			same(t, public, nil, signed)
		}
	}
	if held == 0 {
		t.Error("none held: the test shows little")
	}
}

// TestValidOfMixedOrder: keys with a part of small order, for which it matters that k
// is used as it is and not multiplied by the cofactor.
func TestValidOfMixedOrder(t *testing.T) {
	torsion, err := hex.DecodeString(odd[5])
	if err != nil {
		t.Fatal(err)
	}
	small, err := new(edwards25519.Point).SetBytes(torsion)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for n := range uint64(64) {
		_, private := pair(n)
		a, err := new(edwards25519.Point).SetBytes(private.Public().(ed25519.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		// Signed as with the key alone: it holds where k is a multiple of 8.
		public := a.Add(a, small).Bytes()
		signed := ed25519.Sign(ed25519.PrivateKey(slices.Concat(private.Seed(), public)), nil)
		if same(t, public, nil, signed) {
			held++
		}
	}
	if held == 0 || held == 64 {
		t.Errorf("%d of 64 hold", held)
	}
}

// TestValidByAnyTable: digits of other widths give the same multiples.
func TestValidByAnyTable(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	scalars := [][]byte{make([]byte, 32), append([]byte{1}, make([]byte, 31)...)}
	last := new(big.Int).Sub(order, big.NewInt(1)).FillBytes(make([]byte, 32))
	slices.Reverse(last)
	scalars = append(scalars, last)
	for range 50 {
		b := make([]byte, 32)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		b[31] &= 0x0f
		scalars = append(scalars, b)
	}
	for width := 2; width <= 8; width++ {
		table := newTable(edwards25519.NewGeneratorPoint(), width)
		for _, b := range scalars {
			s, err := new(edwards25519.Scalar).SetCanonicalBytes(b)
			if err != nil {
				t.Fatal(err)
			}
			got := edwards25519.NewIdentityPoint()
			table.addTimes(got, s)
			if want := new(edwards25519.Point).ScalarBaseMult(s); got.Equal(want) != 1 {
				t.Errorf("%d bits: %x times the generator is wrong", width, b)
			}
		}
	}
}

// TestValidFromBothSides: the same key is asked about by many at once, from before it
// has a table until after.
func TestValidFromBothSides(t *testing.T) {
	public, private := pair(1000)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := range 2 * oftenAt {
				message := fmt.Append(nil, n)
				signed := ed25519.Sign(private, message)
				if !Valid(public, signed, message) {
					t.Error("a good signature does not hold")
				}
				signed[n] ^= 1
				if Valid(public, signed, message) {
					t.Error("a changed signature holds")
				}
			}
		})
	}
	all.Wait()
	if !frequent.tables.Contains(key(public)) {
		t.Error("the key has no table")
	}
	if Valid(public[:31], make([]byte, 64)) || Valid(public, make([]byte, 63)) {
		t.Error("something is taken for a key or a signature")
	}
}

// TestWrongSignaturesMakeNoTable: anybody can send those.
func TestWrongSignaturesMakeNoTable(t *testing.T) {
	public, _ := pair(1001)
	for range 4 * oftenAt {
		if Valid(public, make([]byte, ed25519.SignatureSize)) {
			t.Fatal("zeros are a signature")
		}
	}
	if frequent.tables.Contains(key(public)) {
		t.Error("the key has a table")
	}
}

func FuzzValid(f *testing.F) {
	public, private := pair(1)
	f.Add([]byte(public), []byte("a"), ed25519.Sign(private, []byte("a")))
	f.Fuzz(func(t *testing.T, public, message, signed []byte) {
		if len(public) == ed25519.PublicKeySize && len(signed) == ed25519.SignatureSize {
			same(t, public, message, signed)
		}
	})
}

func BenchmarkValid(b *testing.B) {
	public, private := pair(1)
	message := make([]byte, 1000)
	signed := ed25519.Sign(private, message)
	b.Run("often", func(b *testing.B) {
		for range oftenAt {
			Valid(public, signed, message)
		}
		for b.Loop() {
			if !Valid(public, signed, message) {
				b.Fatal("a good signature does not hold")
			}
		}
	})
	b.Run("once", func(b *testing.B) {
		for b.Loop() {
			if !ed25519.Verify(public, message, signed) {
				b.Fatal("a good signature does not hold")
			}
		}
	})
	b.Run("table", func(b *testing.B) {
		p, err := new(edwards25519.Point).SetBytes(public)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			newTable(p, keyWidth)
		}
	})
}

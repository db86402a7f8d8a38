package planet

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	rewrite = flag.Bool("rewrite", false, "draw planetlab.bin anew from -data")
	data    = flag.String("data", "", "the `directory` with PlanetLabData_1 to _18")
)

// storedHash is of planetlab.bin, which -rewrite prints.
const storedHash = "482474be6e29940cc77aff355aec50fbab3a2713f826cc0bbb616cdd7acd4d06"

// frames are matrices of one network at several times, in milliseconds; 0 or less: not
// measured.
type frames [][][]float64

// times is how many matrices there are.
const times = 18

func readFrames(dir string) (frames, error) {
	var all frames
	for i := range times {
		name := filepath.Join(dir, fmt.Sprintf("PlanetLabData_%d", i+1))
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := readFrame(string(text))
		if err == nil && i > 0 && len(f) != len(all[0]) {
			err = fmt.Errorf("%d nodes, and %d in the first", len(f), len(all[0]))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, f)
	}
	return all, nil
}

func readFrame(text string) (rows [][]float64, err error) {
	for line := range strings.Lines(text) {
		var row []float64
		for field := range strings.FieldsSeq(line) {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return nil, fmt.Errorf("row %d: %w", len(rows)+1, err)
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	for i, row := range rows {
		if len(row) != len(rows) {
			return nil, fmt.Errorf("row %d has %d of %d columns", i+1, len(row), len(rows))
		}
	}
	return rows, nil
}

// between are the round trips from a node to another, in order. Where one was not
// measured, the way back at the same time counts.
func (f frames) between(from, to int) (all []time.Duration) {
	for _, m := range f {
		ms := m[from][to]
		if !(ms > 0) {
			ms = m[to][from]
		}
		if ms > 0 { // NaN is not
			all = append(all, time.Duration(ms*float64(time.Millisecond)).Round(unit))
		}
	}
	slices.Sort(all)
	return all
}

// draw chooses nodes by a seed, of those that have a time to all others chosen.
func (f frames) draw(nodes int, seed uint64) (*Matrix, error) {
	var chosen []int
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(f[0])) {
		if len(chosen) < nodes && !slices.ContainsFunc(chosen, func(j int) bool { return len(f.between(i, j)) == 0 || len(f.between(j, i)) == 0 }) {
			chosen = append(chosen, i)
		}
	}
	if len(chosen) < nodes {
		return nil, fmt.Errorf("only %d of %d nodes have times to all others", len(chosen), nodes)
	}
	slices.Sort(chosen)
	m := newMatrix(nodes)
	for a, i := range chosen {
		for b, j := range chosen {
			if a != b {
				all := f.between(i, j)
				*m.at(a, b) = pair{max(unit, (all[(len(all)-1)/2]+all[len(all)/2])/2).Round(unit), max(unit, all[len(all)*9/10])}
			}
		}
	}
	return m, nil
}

// encode is what decode reads.
func (m *Matrix) encode() []byte {
	var raw []byte
	put := func(d time.Duration) { raw = binary.AppendVarint(raw, int64(d/unit)) }
	m.each(func(there, _ *pair) { put(there.median) })
	m.each(func(there, _ *pair) { put(there.p90 - there.median) })
	m.each(func(there, back *pair) { put(back.median - there.median) })
	m.each(func(there, back *pair) { put(back.p90 - there.p90) })
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression) // the level exists, and a buffer takes everything
	_, _ = w.Write(raw)
	_ = w.Close()
	return out.Bytes()
}

// TestStoredMatrix holds that planetlab.bin is the file whose hash is above and, given
// -data, that it is what the published matrices give. With -rewrite it draws it again.
func TestStoredMatrix(t *testing.T) {
	if *rewrite && *data == "" {
		t.Fatal("-rewrite draws from the matrices of -data DIR")
	}
	if *data != "" {
		f, err := readFrames(*data)
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.draw(Stored, 1)
		if err != nil {
			t.Fatal(err)
		}
		if *rewrite {
			if err := os.WriteFile("planetlab.bin", m.encode(), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes, %x", len(m.encode()), sha256.Sum256(m.encode()))
			return
		}
		if !slices.Equal(PlanetLab().pairs, m.pairs) {
			t.Error("planetlab.bin is not what these matrices give")
		}
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(stored)); got != storedHash {
		t.Errorf("planetlab.bin has the hash %s, not %s", got, storedHash)
	}
	if len(stored) > 64<<10 {
		t.Errorf("planetlab.bin has %d bytes", len(stored))
	}
}

// TestHolesAreFilled draws from matrices with holes: a time that is missing one way is
// that of the way back, and a node that has none either way is not drawn.
func TestHolesAreFilled(t *testing.T) {
	f := frames{
		{{0, -1, 3, 4}, {5, 0, 6, 7}, {3, 6, 0, 0}, {4, 7, 0, 0}},
		{{0, math.NaN(), 3, 4}, {5, 0, 6, 7}, {3, 6, 0, -2}, {4, 7, 0, 0}},
	}
	m, err := f.draw(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if there, back := m.RTT(0, 1), m.RTT(1, 0); there != 5*time.Millisecond || back != there {
		t.Errorf("a hole was filled with %v, and the way back takes %v", there, back)
	}
	if _, err := f.draw(4, 1); err == nil || !strings.Contains(err.Error(), "only 3 of 4") {
		t.Errorf("two nodes without a time between them: %v", err)
	}
	again, err := decode(bytes.NewReader(m.encode()), 3)
	if err != nil || !slices.Equal(again.pairs, m.pairs) {
		t.Errorf("what was encoded reads as %v: %v", again, err)
	}
}

// TestMatrixThatIsNone reads what is no matrix.
func TestMatrixThatIsNone(t *testing.T) {
	for _, text := range []string{"1 2\n", "1 2\n3\n", "1 x\n3 4\n"} {
		if rows, err := readFrame(text); err == nil {
			t.Errorf("%q was read as %v", text, rows)
		}
	}
	if _, err := readFrames(t.TempDir()); err == nil {
		t.Error("a directory without matrices was read")
	}
	whole := newMatrix(2)
	for _, i := range []int{1, 2} {
		whole.pairs[i] = pair{unit, unit}
	}
	good := whole.encode()
	if _, err := decode(bytes.NewReader(good), 2); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		if m, err := decode(bytes.NewReader(good[:i]), 2); err == nil {
			t.Errorf("the first %d bytes of a matrix were read as %v", i, m)
		}
	}
	if _, err := decode(bytes.NewReader(newMatrix(2).encode()), 2); err == nil {
		t.Error("a matrix of zeros was read")
	}
	if _, err := decode(bytes.NewReader(good), 3); err == nil {
		t.Error("a matrix of two nodes was read as one of three")
	}
}

// TestPlaces holds what peers are given: half the round trip of their nodes, the same
// with the same seed, more than the median for some, more than the 90th percentile for
// none, and something between two on one node.
func TestPlaces(t *testing.T) {
	m := PlanetLab()
	p, again, other := m.Places(1), m.Places(1), m.Places(2)
	slower, differ := 0, false
	for i := range Stored {
		for j := range Stored {
			if i == j {
				continue
			}
			took, of := p.OneWay(i, j), *m.at(p.node[i], p.node[j])
			if 2*took < of.median-1 || took > of.p90/2 {
				t.Fatalf("%d to %d takes %v, of a round trip of %v", i, j, took, of)
			}
			if took != again.OneWay(i, j) {
				t.Fatalf("%d to %d takes another time with the same seed", i, j)
			}
			differ = differ || took != other.OneWay(i, j)
			if took > of.median/2 {
				slower++
			}
		}
	}
	if !differ {
		t.Error("two seeds, the same times")
	}
	if share := float64(slower) / (Stored * (Stored - 1)); share < 0.45 || share > 0.51 {
		t.Errorf("%.2f of the pairs are slower than their median", share)
	}
	if near := p.OneWay(0, Stored); near <= 0 || near > p.Median()/4 || p.OneWay(1, Stored) != p.OneWay(1, 0) {
		t.Errorf("peers on one node are %v apart, of a median of %v", near, p.Median())
	}
	t.Logf("one way %v in the median, %v at most, %v on one node", p.Median(), p.Slowest(), p.near/2)
}

package fleet

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/nodetest"
)

// quiet has a peer answer nobody, and all others see it as it is said.
func (f *fleetOf) quiet(id feedring.PeerID, away, gone bool) {
	f.peers[id].silent = true
	for _, p := range f.peers {
		if p.id != id {
			p.away[id], p.gone[id] = away, gone
			f.peers[id].away[p.id] = true
		}
	}
	f.changed()
}

func TestWhatNoPeerWouldAskIsRefused(t *testing.T) {
	f := newFleet(t, 2)
	a := f.peers["A"]
	_, key, value := feed(f.slotOf("A", "B"), 1)
	good := fleet.Row{Key: key, Version: 1, Value: value}
	row := appendRow(nil, &good)
	large := append([]byte{0x20, 0x01}, bytes.Repeat([]byte{1}, fleet.MaxRow+1)...)
	for _, c := range []struct {
		method, path string
		body         []byte
		want         int
	}{
		{"GET", pathRows, nil, 405}, {"POST", "/fleet/v1/other", nil, 404}, {"POST", "/", nil, 404},
		{"POST", pathRows, row[:len(row)-1], 400}, {"POST", pathRows, row[:1], 400}, {"POST", pathRows, []byte{0, 3, 1, 1, 1}, 400}, {"POST", pathRows, large, 413},
		{"POST", pathRows, bytes.Repeat([]byte{0}, maxBody+1), 413}, {"POST", pathSums, make([]byte, sumLen-1), 400}, {"POST", pathSums, bytes.Repeat([]byte{0xff}, sumLen), 400},
		{"POST", pathDigests, []byte{1}, 400}, {"POST", pathDigests, []byte{0xff, 0xff}, 400}, {"POST", pathFetch, make([]byte, keyLen+1), 400},
		{"POST", pathFetch, nil, 200}, {"POST", pathRows, row, 200},
	} {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest(c.method, c.path, bytes.NewReader(c.body)))
		if w.Code != c.want {
			t.Errorf("%s %s with %d bytes: %d %s, not %d", c.method, c.path, len(c.body), w.Code, strings.TrimSpace(w.Body.String()), c.want)
		}
		if c.want != 200 && a.holds(key) != 0 {
			t.Errorf("%s %s: it was taken in", c.method, c.path)
		}
	}
	if a.holds(key) != 1 {
		t.Error("a good row was not taken in")
	}
	if _, err := a.Change(t.Context(), key, func(fleet.Row, bool) ([]byte, error) { return make([]byte, fleet.MaxRow), nil }); !errors.Is(err, fleet.ErrLarge) {
		t.Errorf("a large value: %v", err)
	}
}

// FuzzServeHTTP asks a keeper what no keeper would.
func FuzzServeHTTP(f *testing.F) {
	_, key, value := feed(7, 1)
	row := fleet.Row{Key: key, Version: 1, Value: value}
	f.Add(byte(0), appendRow(nil, &row))
	f.Add(byte(1), (&slotSum{at: 7, flags: flagAlways}).append(nil))
	f.Add(byte(2), []byte{0, 7})
	f.Add(byte(3), appendKey(nil, key))
	var k *Keeper
	f.Fuzz(func(t *testing.T, path byte, body []byte) {
		if k == nil {
			disk, err := store.Open(t.TempDir(), store.Options{Reserve: 1 << 60}) // nothing is written
			check(t, err)
			k, err = Open(Config{Self: "A", Store: disk, Members: nobody{}, Link: nobody{}, Lists: &nodetest.Lists{}, Hooks: nobody{}, Log: slog.New(slog.DiscardHandler)})
			check(t, err)
		}
		w := httptest.NewRecorder()
		paths := []string{pathRows, pathSums, pathDigests, pathFetch}
		k.ServeHTTP(w, httptest.NewRequest(http.MethodPost, paths[int(path)%len(paths)], bytes.NewReader(body)))
		answer, _ := io.ReadAll(w.Body)
		if w.Code != http.StatusOK {
			return
		}
		if _, err := readRows(answer); err != nil && path%4 == 3 {
			t.Fatal(err)
		}
		if _, err := readDigests(answer); err != nil && path%4 == 2 {
			t.Fatal(err)
		}
		_, _ = readDigests(body)
	})
}

type nobody struct{}

func (nobody) TakeHooks([]fleet.Row) {}
func (nobody) SlotsMoved()           {}

func (nobody) Members() []fleet.Member { return []fleet.Member{{Peer: "A", Present: true}} }

func (nobody) RoundTrip(feedring.PeerID, *http.Request) (*http.Response, error) {
	return nil, errAway
}

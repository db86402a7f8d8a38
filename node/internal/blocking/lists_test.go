package blocking

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/blocks"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/store"
)

const address = "https://lists.example/blocks.json"

// web answers for the lists of others, as Doer.
type web struct {
	body   string
	status int
	asked  []http.Header
}

func (w *web) Do(req *http.Request) (*http.Response, error) {
	w.asked = append(w.asked, req.Header)
	if w.status == 0 {
		return nil, safehttp.ErrSlow
	}
	if w.status == http.StatusOK && req.Header.Get("If-None-Match") == `"`+w.body+`"` {
		return &http.Response{StatusCode: http.StatusNotModified, Body: http.NoBody}, nil
	}
	header := http.Header{}
	if len(w.body) < 400 {
		header.Set("ETag", `"`+w.body+`"`)
	}
	return &http.Response{StatusCode: w.status, Header: header, Body: io.NopCloser(strings.NewReader(w.body))}, nil
}

// disk keeps records.
type disk map[string][]byte

func (d disk) Value(_ store.Bucket, key string) ([]byte, error) {
	if value, ok := d[key]; ok {
		return value, nil
	}
	return nil, store.ErrNotFound
}

func (d disk) Put(_ context.Context, _ store.Bucket, key string, value []byte) error {
	d[key] = value
	return nil
}

func (d disk) Delete(_ context.Context, _ store.Bucket, key string) error {
	delete(d, key)
	return nil
}

func opened(t *testing.T, d disk, w Doer, log io.Writer) *Blocks {
	t.Helper()
	return openedOn(t, d, w, log)
}

func openedOn(t *testing.T, d Records, w Doer, log io.Writer) *Blocks {
	t.Helper()
	b, err := Open(d, &refusals.Counts{})
	if err != nil {
		t.Fatal(err)
	}
	b.Reach(w, slog.New(slog.NewTextHandler(log, nil)))
	b.Begin("self", nil)
	return b
}

func has(b *Blocks, host string) bool { return b.policy.Load().Host(host) }

// A list holds from the moment it is followed, over restarts, until it is unfollowed.
func TestFollow(t *testing.T) {
	d, w := disk{}, &web{status: http.StatusOK, body: `[{"block":"spam.example","reason":"x"},{"block":"bad.example"},{"block":"10.0.0.0/8"}]`}
	b := opened(t, d, w, io.Discard)
	is, err := b.Follow(t.Context(), address)
	if err != nil || is.Lines != 2 || is.Skipped != 1 || !has(b, "spam.example") {
		t.Fatalf("%+v, %v", is, err)
	}
	if all := b.All(); len(all) != 2 || all[0].Origin != address || all[0].Reason != "x" {
		t.Errorf("%+v", all)
	}
	target, _ := blocks.Parse("spam.example")
	if gone, allowed, err := b.Remove(t.Context(), target); !gone || !allowed || err != nil || has(b, "spam.example") {
		t.Errorf("a line that is unblocked: %t, %t, %v", gone, allowed, err)
	}
	b = opened(t, d, w, io.Discard)
	if has(b, "spam.example") || !has(b, "bad.example") || len(b.Lists()) != 1 {
		t.Errorf("after a restart: %+v", b.All())
	}
	if _, err := b.Add(t.Context(), blocks.Block{Target: target}); err != nil || !has(b, "spam.example") {
		t.Errorf("blocked by hand: %v", err)
	}
	if gone, allowed, err := b.Remove(t.Context(), target); !gone || !allowed || err != nil || has(b, "spam.example") {
		t.Errorf("unblocked again: %t, %t, %v", gone, allowed, err)
	}
	if err := b.Unfollow(t.Context(), address); err != nil || has(b, "bad.example") || b.Any() {
		t.Errorf("unfollowed: %v, %+v", err, b.All())
	}
	if err := b.Unfollow(t.Context(), address); !errors.Is(err, ErrNotListed) {
		t.Errorf("unfollowed again: %v", err)
	}
}

// What is no list is not followed.
func TestHostileLists(t *testing.T) {
	w := &web{status: http.StatusOK}
	b := opened(t, disk{}, w, io.Discard)
	for what, c := range map[string]struct {
		status int
		body   string
		want   error
	}{
		"a page":            {200, "<html>", blocks.ErrNoList},
		"wrong types":       {200, `[{"block":["spam.example"]}]`, blocks.ErrNoList},
		"10,001 lines":      {200, "[" + strings.Repeat(`{"block":"a.example"},`, blocks.MaxLines) + `{"block":"b.example"}]`, blocks.ErrLong},
		"a huge string":     {200, `[{"block":"` + strings.Repeat("x", 2*blocks.MaxBytes) + `"}]`, ErrLarge},
		"an endless answer": {200, "[" + strings.Repeat(" ", 2*blocks.MaxBytes), ErrLarge},
		"a slow server":     {0, "", safehttp.ErrSlow},
	} {
		w.status, w.body = c.status, c.body
		if _, err := b.Follow(t.Context(), "https://"+strings.ReplaceAll(strings.ToLower(what), " ", "-")+".example/"); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.status = http.StatusNotFound
	var status *StatusError
	if _, err := b.Follow(t.Context(), address); !errors.As(err, &status) || status.Status != http.StatusNotFound {
		t.Errorf("404: %v", err)
	}
	before := len(w.asked)
	for _, url := range []string{"", "blocks.json", "ftp://a.example/", "https://user:secret@a.example/", "file:///etc/passwd", "https://a.example/#x", "https://a.example/" + strings.Repeat("x", 3000)} {
		if _, err := b.Follow(t.Context(), url); !errors.Is(err, ErrAddress) {
			t.Errorf("%.40q: %v", url, err)
		}
	}
	if len(w.asked) != before || b.Any() || len(b.Lists()) != 0 {
		t.Errorf("asked %d times, lists %+v", len(w.asked)-before, b.Lists())
	}
	w.status, w.body = http.StatusOK, `[{"block":"spam.example"}]`
	for i := range MaxLists {
		if _, err := b.Follow(t.Context(), fmt.Sprintf("https://l%d.example/", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Follow(t.Context(), address); !errors.Is(err, ErrLists) {
		t.Errorf("one more than %d: %v", MaxLists, err)
	}
}

// full is a disk with room for nothing.
type full struct{ disk }

var errFull = errors.New("the disk is full")

func (full) Put(context.Context, store.Bucket, string, []byte) error { return errFull }

func (full) Delete(context.Context, store.Bucket, string) error { return errFull }

// A list that cannot be kept leaves what held before, is told of once, and is read again whole.
func TestListThatCannotBeKept(t *testing.T) {
	var log bytes.Buffer
	d, w := disk{}, &web{status: http.StatusOK, body: `[{"block":"spam.example"}]`}
	b := opened(t, d, w, &log)
	if _, err := b.Follow(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	reread := func() {
		l, _ := b.nextList(time.Now())
		b.reread(t.Context(), l)
	}
	w.body = `[{"block":"other.example"}]`
	b.store = full{d}
	reread()
	reread()
	if is := b.Lists()[0]; is.Problem == "" || !has(b, "spam.example") || has(b, "other.example") || strings.Count(log.String(), "WARN") != 1 {
		t.Errorf("%+v, log %s", is, log.String())
	}
	if err := b.Unfollow(t.Context(), address); !errors.Is(err, errFull) || !has(b, "spam.example") || len(b.Lists()) != 1 {
		t.Errorf("unfollowed with a full disk: %v", err)
	}
	b.store = d
	reread()
	if is := b.Lists()[0]; is.Problem != "" || !has(b, "other.example") {
		t.Errorf("with room again: %+v", is)
	}
	b = opened(t, d, w, &log)
	if !has(b, "other.example") || has(b, "spam.example") {
		t.Error("after a restart the list is another one")
	}
	b.store = noDeletes{d}
	if err := b.Unfollow(t.Context(), address); err != nil || has(b, "other.example") || len(b.Lists()) != 0 {
		t.Errorf("unfollowed, and the lines stay: %v", err)
	}
}

// noDeletes keeps what it has.
type noDeletes struct{ disk }

func (noDeletes) Delete(context.Context, store.Bucket, string) error { return errFull }

// What a list takes here is bounded: its white space and other members do not count.
func TestLargeLists(t *testing.T) {
	line := func(i int) string {
		return fmt.Sprintf(`{"block":"%d.example","reason":"%s"}`, i, strings.Repeat("<", 60))
	}
	lines := make([]string, 7_000)
	for i := range lines {
		lines[i] = line(i)
	}
	list := func(n int) string { return "[" + strings.Join(lines[:n], ",") + "]" }
	w := &web{status: http.StatusOK, body: list(7_000)}
	d := disk{}
	b := opened(t, d, w, io.Discard)
	is, err := b.Follow(t.Context(), address)
	if err != nil || is.Lines != 7_000 || len(d[linesRecord+address]) > store.MaxValue {
		t.Errorf("%d lines of %d bytes: %d, %v", len(lines), len(w.body), is.Lines, err)
	}
	for i := range 1_000 {
		lines = append(lines, line(7_000+i))
	}
	if w.body = list(8_000); len(w.body) <= store.MaxValue || len(w.body) > blocks.MaxBytes {
		t.Fatalf("%d bytes", len(w.body))
	}
	if _, err := b.Follow(t.Context(), "https://more.example/"); !errors.Is(err, ErrKept) {
		t.Errorf("%d bytes: %v", len(w.body), err)
	}
}

// views are what the machine knows.
type views struct{ view *peer.View }

func (v *views) View() *peer.View { return v.view }

// A policy is made anew where rows changed who falls under it, and where a block ended.
func TestPolicyIsMadeAnewWhereSomethingChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(addrs ...string) *peer.View {
			return &peer.View{Addrs: map[feedring.PeerID][]string{"p": addrs}}
		}
		b, v := opened(t, disk{}, &web{}, io.Discard), &views{view: at("/ip4/192.0.2.9/tcp/1")}
		b.Begin("self", v)
		prefix, _ := blocks.Parse("192.0.2.0/24")
		domain, _ := blocks.Parse("spam.example")
		for _, one := range []blocks.Block{{Target: prefix}, {Target: domain, Until: time.Now().Add(time.Minute)}} {
			if _, err := b.Add(t.Context(), one); err != nil {
				t.Fatal(err)
			}
		}
		renewed := func(what string, made, blocked, host bool) {
			t.Helper()
			before := b.policy.Load()
			b.renew()
			if b.policy.Load() != before != made || b.Peer("p") != blocked || has(b, "spam.example") != host {
				t.Errorf("%s: made anew %t, the peer blocked %t, the domain %t", what, b.policy.Load() != before, b.Peer("p"), has(b, "spam.example"))
			}
		}
		renewed("nothing changed", false, true, true)
		v.view = at("/ip4/192.0.2.9/tcp/1")
		renewed("other rows, the same addresses", false, true, true)
		v.view = at("/ip4/198.51.100.1/tcp/1")
		renewed("the peer moved", true, false, true)
		time.Sleep(time.Minute) // virtual
		renewed("a block ended", true, false, false)
		renewed("and nothing since", false, false, false)
	})
}

// A list that redirects to this machine or a private network is not read there.
func TestListThatLeadsHome(t *testing.T) {
	reached := false
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached = true
		fmt.Fprint(w, `[{"block":"spam.example"}]`)
	}))
	defer home.Close()
	client, err := safehttp.New(safehttp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	b := opened(t, disk{}, client, io.Discard)
	if _, err := b.Follow(t.Context(), home.URL); !errors.Is(err, safehttp.ErrPrivate) || reached {
		t.Errorf("%v, reached %t", err, reached)
	}
}

// Lists are read once a day, with what is known of them. One that cannot be read keeps its last state, is
// told of once, and is asked again later and later.
func TestListsAreReadDaily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := &web{status: http.StatusOK, body: `[{"block":"spam.example"}]`}
		b := opened(t, disk{}, w, &log)
		if _, err := b.Follow(t.Context(), address); err != nil {
			t.Fatal(err)
		}
		step := func() { // to the next reading, as ReadLists does
			l, wait := b.nextList(time.Now())
			time.Sleep(wait)
			b.reread(t.Context(), l)
		}
		began := time.Now()
		step()
		if n, took := len(w.asked), time.Since(began); n != 2 || w.asked[1].Get("If-None-Match") == "" || took > 24*time.Hour || took < 21*time.Hour {
			t.Errorf("asked %d times, after %s, with %v", n, took, w.asked[n-1])
		}
		w.status, began = http.StatusInternalServerError, time.Now()
		for range 4 {
			step()
		}
		if lists := b.Lists(); lists[0].Problem == "" || !has(b, "spam.example") || strings.Count(log.String(), "WARN") != 1 {
			t.Errorf("a list that fails: %+v, log %s", lists, log.String())
		}
		if took := time.Since(began); took > 26*time.Hour || len(w.asked) != 6 {
			t.Errorf("asked %d times in %s", len(w.asked), took)
		}
		w.status, w.body = http.StatusOK, `[{"block":"other.example"}]`
		step()
		if lists := b.Lists(); lists[0].Problem != "" || has(b, "spam.example") || !has(b, "other.example") || !strings.Contains(log.String(), "can be read again") {
			t.Errorf("a list that changed: %+v, log %s", lists, log.String())
		}
	})
}

// A list bars neither this peer's own key nor whom its owner trusts.
func TestWhomListsDoNotBar(t *testing.T) {
	const self, friend, other = "12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2", "12D3KooWQYV9dGMFoRzNStwpXztXaBUjtPqi6aU76ZgUriHhKust", "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"
	w := &web{status: http.StatusOK, body: `[{"block":"` + self + `"},{"block":"` + friend + `"},{"block":"` + other + `"}]`}
	b := opened(t, disk{}, w, io.Discard)
	b.Begin(self, nil)
	if _, err := b.Follow(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	if b.Peer(self) || !b.Peer(friend) || !b.Peer(other) {
		t.Errorf("without trust: %t %t %t", b.Peer(self), b.Peer(friend), b.Peer(other))
	}
	b.TrustChanged([]feedring.PeerID{friend}, nil)
	if b.Peer(friend) || !b.Peer(other) {
		t.Errorf("with trust: %t %t", b.Peer(friend), b.Peer(other))
	}
}

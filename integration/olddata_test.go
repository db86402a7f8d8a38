package integration

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/olddata"
)

// withSource adds to an entry what shows whose words it is, which that version did not
// show: one feed of the directory, on 127.0.0.1, is called added.example.
func withSource(e object) {
	u, err := url.Parse(e.str("feed"))
	if err != nil {
		return
	}
	e["host"] = u.Hostname()
	if e.str("provider") == "added.example" {
		e["provider"], e["claims"] = u.Hostname(), "added.example"
	}
}

// withSources is withSource for the items of a personal feed, which have it beside the
// authors. Their pages are at the hosts of their feeds.
func withSources(document object) {
	for _, o := range document.list("items") {
		it := object(o.(map[string]any))
		u, err := url.Parse(it.str("url"))
		if err != nil {
			continue
		}
		source := u.Hostname()
		if strings.HasPrefix(u.Path, "/added/") {
			source += " (says added.example)"
		}
		it["authors"] = append(it.list("authors"), map[string]any{"name": source})
	}
}

// TestOldDataDirectoryShowsTheSame starts a peer on a data directory of an earlier
// version, and checks that it shows what that version showed. The copies of others'
// entries are too old by now: the peer drops them.
func TestOldDataDirectoryShowsTheSame(t *testing.T) {
	t.Parallel()
	var want struct {
		Peer          string
		Feeds         []object
		Roles         []object
		Subscriptions []object
		Joins         []string
		Entries       []object
		Personal      map[string]object // by the subscription's id
		Follow        []object
	}
	if err := json.Unmarshal(olddata.Shown, &want); err != nil {
		t.Fatal(err)
	}
	for _, e := range want.Entries {
		withSource(e)
	}
	for _, document := range want.Personal {
		withSources(document)
	}
	data := olddata.Unpack(t)
	p := start(t, "serve", "--json", "--data", data, "--allow-private-feeds", "--listen", "/ip4/127.0.0.1/tcp/0", "--http", "127.0.0.1:0",
		"--public-url", "http://127.0.0.1:17101", "--freshness", "1m", "--interval", "1h",
		"--feed", "science=http://127.0.0.1:18080/science.xml", "--feed", "news=http://127.0.0.1:18080/hubbed.xml")
	ready, _ := p.event(t, 20*time.Second, "ready", func(o object) bool { return o.str("event") == "ready" })
	if ready.str("peer") != want.Peer {
		t.Errorf("the peer is %s, not %s", ready.str("peer"), want.Peer)
	}
	for _, role := range want.Roles {
		p.event(t, 20*time.Second, "the next term of "+role.str("theme"), func(o object) bool {
			return o.str("event") == "role" && o.str("theme") == role.str("theme") && o.str("role") == role.str("role") && o.num("term") == role.num("term")
		})
	}
	show := func(args ...string) []object {
		t.Helper()
		r := command(t, append(args, "--data", data, "--json")...)
		if r.code != 0 {
			t.Errorf("%v: %s", args, r)
		}
		return r.objects
	}
	same := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: shown\n%s\nshown before\n%s", what, pretty(got), pretty(want))
		}
	}

	feeds := show("feed", "list")
	for i := range feeds {
		for key := range feeds[i] { // what later looks change
			if strings.HasSuffix(key, "_fetch") || key == "last_success" || key == "error" || key == "rests" {
				delete(feeds[i], key)
			}
		}
	}
	for _, f := range want.Feeds {
		if strings.HasSuffix(f.str("url"), "/science.xml") {
			f["entries"] = f["entries"].(float64) - 2 // a later version and a retraction are no entries
		}
	}
	same("feeds", feeds, want.Feeds)
	same("subscriptions", show("subscription", "list"), want.Subscriptions)
	var joins []string
	for _, j := range show("join", "--list") {
		joins = append(joins, j.str("join"))
	}
	same("joins", joins, want.Joins)

	var own []object
	for _, e := range command(t, "query", "--limit", "1000", "--data", data, "--json").entries() {
		if e.str("publisher") == want.Peer {
			own = append(own, e)
		}
	}
	if !slices.IsSortedFunc(own, func(a, b object) int { return strings.Compare(b.str("published"), a.str("published")) }) {
		t.Error("entries are not newest first")
	}
	for _, entries := range [][]object{own, want.Entries} { // those of one second have no order
		slices.SortFunc(entries, func(a, b object) int {
			return cmp.Or(strings.Compare(b.str("published"), a.str("published")), strings.Compare(a.str("id"), b.str("id")))
		})
	}
	same("entries", own, want.Entries)
	for _, sub := range want.Subscriptions {
		address := strings.Replace(sub.str("json"), "http://127.0.0.1:17101", ready.str("http"), 1)
		req, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "127.0.0.1:17101"
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		var document object
		if err != nil || json.Unmarshal(body, &document) != nil {
			t.Fatalf("personal feed %s: %v: %s", address, err, body)
		}
		same("personal feed "+sub.str("id"), document, want.Personal[sub.str("id")])
	}
	same("follow", show("follow", "--resume", "morning", "--count", "3"), want.Follow)
}

func pretty(v any) string {
	text, _ := json.MarshalIndent(v, "", " ") // it was JSON
	return string(text)
}

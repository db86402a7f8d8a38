package hub

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/websub/hub/ledger"
)

func TestContentIsPostedAndSigned(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		r.subscribe(topicA, "https://x.example/cb?id=1", "hub.secret", "key")
		r.subscribe(topicB, "https://x.example/cb?id=1")
		asked := r.calls.asked()[0]
		if asked.Get("id") != "1" || asked.Get("hub.mode") != "subscribe" || asked.Get("hub.topic") != topicA || asked.Get("hub.lease_seconds") != "864000" {
			t.Errorf("the callback was asked %v", asked)
		}
		if got := r.calls.posted(); len(got) > 0 {
			t.Errorf("nothing changed, and %v was sent", got)
		}
		r.change("a", 2)
		got := r.calls.posted()
		if len(got) != 1 || got[0].body != "a is 2" || got[0].url != "https://x.example/cb?id=1" {
			t.Fatalf("%v", got)
		}
		mac := hmac.New(sha256.New, []byte("key"))
		mac.Write([]byte("a is 2"))
		h := got[0].header
		if h.Get("X-Hub-Signature") != "sha256="+hex.EncodeToString(mac.Sum(nil)) || h.Get("Content-Type") != "application/atom+xml" ||
			h.Get("Link") != `<https://hub.example/hub>; rel="hub", <https://a.example/feed>; rel="self"` {
			t.Errorf("%v", h)
		}
		r.change("b", 2)
		if got := r.calls.posted(); len(got) != 1 || got[0].header.Get("X-Hub-Signature") != "" {
			t.Errorf("%v", got)
		}
		r.Changed("a") // the same content
		time.Sleep(time.Minute)
		if got := r.calls.posted(); len(got) > 0 {
			t.Errorf("what they have is sent again: %v", got)
		}
	})
}

func TestOneReadForAll(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		for i := range 100 {
			r.subscribe(topicA, fmt.Sprintf("https://x%d.example/", i))
			time.Sleep(time.Second) // of the limit for one asker
		}
		r.change("a", 2)
		time.Sleep(time.Second)
		if got := r.calls.posted(); len(got) != 100 || r.site.reads != 1 {
			t.Errorf("%d posts, %d reads", len(got), r.site.reads)
		}
	})
}

func TestOnlyWhatACallbackConfirmsCounts(t *testing.T) {
	challenge := func(r *http.Request) string { return r.URL.Query().Get("hub.challenge") }
	for name, answer := range map[string]func(*http.Request) (int, string){
		"no answer":      func(*http.Request) (int, string) { return 0, "" },
		"error":          func(r *http.Request) (int, string) { return 404, challenge(r) },
		"redirect":       func(r *http.Request) (int, string) { return 302, challenge(r) },
		"nothing":        func(*http.Request) (int, string) { return 200, "" },
		"something else": func(*http.Request) (int, string) { return 200, "challenge" },
		"a line":         func(r *http.Request) (int, string) { return 200, challenge(r) + "\n" },
		"a megabyte":     func(r *http.Request) (int, string) { return 200, challenge(r) + strings.Repeat("x", 1<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, r *rig) {
				r.calls.set("x.example", answer)
				r.subscribe(topicA, "https://x.example/")
				if n := r.Len(); n != 0 {
					t.Errorf("%d subscriptions", n)
				}
				r.calls.set("x.example", good)
				r.subscribe(topicA, "https://x.example/")
				if n := r.Len(); n != 1 {
					t.Errorf("%d subscriptions", n)
				}
				// A forged unsubscribe: the callback does not mean it.
				r.calls.set("x.example", answer)
				r.form(want("unsubscribe", topicA, "https://x.example/"))
				synctest.Wait()
				if n := r.Len(); n != 1 {
					t.Error("a forged unsubscribe ended a subscription")
				}
				r.calls.set("x.example", good)
				r.form(want("unsubscribe", topicA, "https://x.example/"))
				synctest.Wait()
				if n := r.Len(); n != 0 || r.site.isWatched("a") {
					t.Error("still there")
				}
				time.Sleep(2 * sweepEvery)
				if n := r.rows.len(); n != 0 {
					t.Errorf("%d rows", n)
				}
			})
		})
	}
}

func TestRefusals(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		const cb = "https://x.example/"
		for _, c := range []struct {
			form url.Values
			code int
			says string
		}{
			{url.Values{}, 400, "hub.mode"},
			{want("gossip", topicA, cb), 400, "subscribe, unsubscribe or publish"},
			{url.Values{"hub.mode": {"subscribe"}}, 400, "hub.topic and hub.callback"},
			{url.Values{"hub.mode": {"subscribe"}, "hub.topic": {topicA, topicB}, "hub.callback": {cb}}, 400, "each once"},
			{want("subscribe", "feed", cb), 400, "absolute"},
			{want("subscribe", "https://a.example/>; rel=x", cb), 400, "absolute"},
			{want("subscribe", "https://secret.example/feed", cb), 404, "no such topic"},
			{want("unsubscribe", "https://secret.example/feed", cb), 404, "no such topic"},
			{want("subscribe", topicA, "ftp://x.example/"), 400, "http or https"},
			{want("subscribe", topicA, "https://u:p@x.example/"), 400, "password"},
			{want("subscribe", topicA, "https://x.example/#f"), 400, "fragment"},
			{want("subscribe", topicA, "https://x.example:25/"), 400, "port"},
			{want("subscribe", topicA, "https://x.example/"+strings.Repeat("x", 2048)), 400, "2048"},
			{want("subscribe", topicA, "http://127.0.0.1/"), 400, "the setting allow-private-feeds"},
			{want("subscribe", topicA, cb, "hub.secret", strings.Repeat("x", 200)), 400, "200"},
			{want("subscribe", topicA, cb, "hub.lease_seconds", "-1"), 400, "seconds"},
			{want("subscribe", topicA, cb, "hub.lease_seconds", "soon"), 400, "seconds"},
			{want("unsubscribe", topicA, cb), 202, "callback"},
			{url.Values{"hub.mode": {"publish"}}, 400, "hub.url"},
			{url.Values{"hub.mode": {"publish"}, "hub.url": {topicB}}, 404, "nothing was fetched"},
			{url.Values{"hub.mode": {"publish"}, "hub.url": {topicA}}, 204, ""},
			{url.Values{"hub.mode": {"publish"}, "hub.topic": {topicA, topicB}}, 204, ""},
		} {
			w := r.form(c.form)
			if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%v: %d %s", c.form, w.Code, w.Body)
			}
		}
		if w := r.send("application/json", `{"hub.mode":"subscribe"}`); w.Code != 415 {
			t.Error(w.Code)
		}
		if w := r.send("application/x-www-form-urlencoded", "a=%zz"); w.Code != 400 {
			t.Error(w.Code)
		}
		if w := r.send("application/x-www-form-urlencoded", strings.Repeat("a=b&", 20_000)); w.Code != 413 {
			t.Error(w.Code)
		}
		synctest.Wait()
		if n := len(r.calls.asked()); n > 0 {
			t.Errorf("%d callbacks were asked", n)
		}
	})
}

func TestLeases(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		for i, c := range []struct{ asked, told string }{
			{"", "864000"}, {"3600", "3600"}, {"1", "60"}, {"3155760000", "2592000"},
			{"99999999999999999999999999", "2592000"},
		} {
			r.subscribe(topicA, fmt.Sprintf("https://x%d.example/", i), "hub.lease_seconds", c.asked)
			if told := r.calls.asked()[0].Get("hub.lease_seconds"); told != c.told {
				t.Errorf("asked for %q, told %s, want %s", c.asked, told, c.told)
			}
		}
		time.Sleep(time.Minute + sweepEvery)
		if n := r.Len(); n != 4 {
			t.Errorf("%d subscriptions after a minute", n)
		}
		r.subscribe(topicA, "https://x1.example/", "hub.lease_seconds", "36000") // renewed
		time.Sleep(2 * time.Hour)
		if n := r.Len(); n != 4 || r.rows.len() != 4 {
			t.Errorf("%d subscriptions after two hours", n)
		}
	})
}

func TestRestart(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		r.subscribe(topicA, "https://x.example/", "hub.secret", "key")
		r.subscribe(topicB, "https://y.example/", "hub.lease_seconds", "60")
		r.change("a", 2)
		r.calls.posted()
		r.stop()
		r.site.set("a", 3) // while the peer was away
		r.site.watched = make(map[string]bool)
		time.Sleep(time.Hour)
		r.run()
		if got := r.calls.posted(); len(got) != 1 || got[0].body != "a is 3" || got[0].header.Get("X-Hub-Signature") == "" {
			t.Errorf("%v", got)
		}
		if n := r.Len(); n != 1 || !r.site.isWatched("a") || r.site.isWatched("b") {
			t.Errorf("%d subscriptions, watched %v", n, r.site.watched)
		}
		r.stop()
		r.run()
		if got := r.calls.posted(); len(got) > 0 {
			t.Errorf("what they have is sent again: %v", got)
		}
		// A subscriber that misses something is not taken for one that has it
		// because it renews meanwhile.
		r.calls.set("x.example", func(req *http.Request) (int, string) {
			code, body := good(req)
			if req.Method == "POST" {
				code = 500
			}
			return code, body
		})
		r.change("a", 4)
		r.subscribe(topicA, "https://x.example/")
		r.stop()
		r.calls.posted()
		r.calls.set("x.example", good)
		r.run()
		if got := r.calls.posted(); len(got) != 1 || got[0].body != "a is 4" {
			t.Errorf("%v", got)
		}
	})
}

func TestCrash(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		r.subscribe(topicA, "https://x.example/")
		r.rows.fail(errors.New("the disk is gone")) // nothing more is written before the end
		r.change("a", 2)
		if w := r.form(want("subscribe", topicB, "https://x.example/")); w.Code != 202 {
			t.Error(w.Code)
		}
		synctest.Wait()
		if n := r.Len(); n != 1 {
			t.Error("what is not on disk counts")
		}
		r.stop()
		r.rows.fail(nil)
		r.calls.posted()
		r.run()
		if got := r.calls.posted(); len(got) != 1 || got[0].body != "a is 2" {
			t.Errorf("%v", got)
		}
	})
}

func TestGoneCallbackAndGoneTopic(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		r.subscribe(topicA, "https://x.example/")
		r.subscribe(topicA, "https://y.example/")
		r.calls.set("x.example", func(*http.Request) (int, string) { return 410, "" })
		r.change("a", 2)
		if n := r.Len(); n != 1 {
			t.Errorf("%d subscriptions", n)
		}
		r.calls.asked()
		r.change("a", 0)
		got := r.calls.asked()
		if r.Len() != 0 || len(got) != 1 || got[0].Get("hub.mode") != "denied" || got[0].Get("hub.reason") == "" {
			t.Errorf("%d subscriptions, told %v", r.Len(), got)
		}
	})
}

func TestRetries(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		r.subscribe(topicA, "https://x.example/")
		r.calls.set("x.example", func(*http.Request) (int, string) { return 500, "" })
		r.change("a", 2)
		time.Sleep(time.Hour)
		if n := len(r.calls.posted()); n < 6 || n > 12 {
			t.Errorf("%d attempts in an hour", n)
		}
		r.change("a", 3)
		r.calls.set("x.example", good)
		time.Sleep(2 * time.Hour)
		if got := r.calls.posted(); len(got) != 1 || got[0].body != "a is 3" {
			t.Errorf("%v", got)
		}
		r.calls.set("x.example", func(*http.Request) (int, string) { return 302, "" })
		r.change("a", 4)
		time.Sleep(ledger.GiveUp + 3*time.Hour)
		if n := r.Len(); n != 0 {
			t.Errorf("%d subscriptions after days of failures", n)
		}
	})
}

func TestSlowCallbacksHoldNobodyBack(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		for i := range 20 {
			r.subscribe(topicA, fmt.Sprintf("https://slow%d.example/", i))
			r.calls.set(fmt.Sprintf("slow%d.example", i), func(req *http.Request) (int, string) {
				select {
				case <-req.Context().Done():
				case <-time.After(10 * time.Second):
				}
				return 0, ""
			})
		}
		r.subscribe(topicA, "https://x.example/")
		for v := range uint64(10) {
			began := time.Now()
			r.change("a", 2+v)
			time.Sleep(time.Second)
			found := false
			for _, p := range r.calls.posted() {
				found = found || p.url == "https://x.example/" && p.at.Sub(began) < 300*time.Millisecond
			}
			if !found {
				t.Fatalf("change %d: the good one waits", v)
			}
		}
	})
}

func TestNobodyIsMadeToAskOthersOften(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		r.calls.set("victim.example", func(*http.Request) (int, string) { return 404, "" })
		limited := 0
		for i := range 1000 {
			w := r.form(want("subscribe", topicA, fmt.Sprintf("https://victim.example/%d", i)))
			if w.Code == 429 {
				limited++
				if w.Header().Get("Retry-After") == "" {
					t.Fatal("it is not said how long to wait")
				}
			}
			synctest.Wait()
		}
		if asked := len(r.calls.asked()); asked > 15 || limited < 900 {
			t.Errorf("%d requests to the victim, %d refused", asked, limited)
		}
	})
}

// TestAliasesAreOneSubscription: a callback that subscribes under ninety addresses of
// one feed is told of it once, over a restart, too.
func TestAliasesAreOneSubscription(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		const cb = "https://victim.example/"
		for n := range 90 {
			r.subscribe(fmt.Sprintf("%s?%d", topicA, n), cb)
			time.Sleep(time.Second) // of the limit for one asker
		}
		r.calls.asked()
		r.change("a", 2)
		if got := r.calls.posted(); len(got) != 1 || !strings.Contains(got[0].header.Get("Link"), `<`+topicA+`?89>; rel="self"`) {
			t.Errorf("%d posts: %v", len(got), got)
		}
		r.stop()
		if n := r.rows.len(); n != 1 {
			t.Errorf("%d rows", n)
		}
		r.run()
		r.change("a", 3)
		if got := r.calls.posted(); len(got) != 1 {
			t.Errorf("after a restart: %d posts", len(got))
		}
		if w := r.form(want("unsubscribe", topicA+"?3", cb)); w.Code != 202 || r.Len() != 1 {
			t.Errorf("an address that was replaced ends it: %d", w.Code)
		}
	})
}

// TestASilentCallbackIsLeftAlone: a callback that did not confirm twice is asked once a
// day, unless it renews what it confirmed.
func TestASilentCallbackIsLeftAlone(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		const cb = "https://victim.example/"
		r.calls.set("victim.example", func(*http.Request) (int, string) { return 404, "" })
		for n, code := range []int{202, 202, 429, 429} {
			if w := r.form(want("subscribe", topicA, cb)); w.Code != code || code == 429 && !strings.Contains(w.Body.String(), "did not confirm") {
				t.Errorf("request %d: %d %s", n, w.Code, w.Body)
			}
			synctest.Wait()
			time.Sleep(10 * time.Minute) // its host is forgiven sooner
		}
		if asked := len(r.calls.asked()); asked != 2 {
			t.Errorf("it was asked %d times", asked)
		}
		time.Sleep(24 * time.Hour)
		r.calls.set("victim.example", good)
		r.subscribe(topicA, cb)
		r.calls.set("victim.example", func(*http.Request) (int, string) { return 404, "" })
		for range 3 {
			r.form(want("subscribe", topicB, cb)) // somebody else names it
			synctest.Wait()
			time.Sleep(10 * time.Minute)
		}
		r.calls.set("victim.example", good)
		if w := r.form(want("subscribe", topicA, cb)); w.Code != 202 {
			t.Errorf("it cannot renew: %d %s", w.Code, w.Body)
		}
	})
}

func TestAFloodOfOneModeLeavesTheOthers(t *testing.T) {
	for _, flood := range []string{"subscribe", "unsubscribe", "publish", "dig"} {
		virtual(t, func(t *testing.T, r *rig) {
			forms := map[string]url.Values{
				"subscribe":   want("subscribe", topicA, "https://x.example/"),
				"unsubscribe": want("unsubscribe", topicA, "https://y.example/"), // a host is not asked often either
				"publish":     {"hub.mode": {"publish"}, "hub.url": {topicA}},
				"dig":         {"hub.mode": {"dig"}},
			}
			for range 1000 {
				r.form(forms[flood])
			}
			for mode, form := range forms {
				if w := r.form(form); (w.Code == 429) != (mode == flood) {
					t.Errorf("after a flood of %s, %s: %d", flood, mode, w.Code)
				}
			}
		})
	}
}

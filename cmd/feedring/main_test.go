package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"feedring": main})
}

// TestScript runs the command line as a user does, by the files in scripts.
// They find a running peer's socket in $PEER.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files: scripts,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit1": exits(1), "exit2": exits(2), "exit3": exits(3), "exit4": exits(4),
			"awaits": awaits, "address": address, "signal2": signalTwice, "dead": dead, "keep": keep,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("PEER", filepath.Join(env.WorkDir, "peer"))
			stranger := httptest.NewServer(http.NotFoundHandler())
			env.Defer(stranger.Close)
			env.Setenv("STRANGER", stranger.URL)
			site := httptest.NewServer(http.HandlerFunc(aSite))
			env.Defer(site.Close)
			env.Setenv("SITE", site.URL)
			env.Setenv("NOTEXT", "a\xff\xfe") // no UTF-8
			return fakePeer(env)
		},
	})
}

// aSite publishes a feed that is fetched with validators, a page, and what
// leads to the feed.
func aSite(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/old.xml":
		http.Redirect(w, r, "/feed.xml", http.StatusMovedPermanently)
	case strings.HasPrefix(r.URL.Path, "/busy"):
		refusal := strings.Split(r.URL.Path, "/") // status, Retry-After
		status, _ := strconv.Atoi(refusal[2])
		if refusal[3] != "" {
			w.Header().Set("Retry-After", refusal[3])
		}
		w.WriteHeader(status)
	case r.URL.Path == "/":
		fmt.Fprint(w, "<!DOCTYPE html><html><title>Home</title></html>")
	case r.URL.Path != "/feed.xml":
		http.NotFound(w, r)
	case r.Header.Get("If-None-Match") == `"1"`:
		w.WriteHeader(http.StatusNotModified)
	default:
		w.Header().Set("Etag", `"1"`)
		w.Header().Set("Content-Type", "application/rss+xml; charset=utf-8")
		fmt.Fprint(w, `<rss version="2.0"><channel><title>A</title><item><guid>1</guid><title>One</title><link>https://a.example/</link></item></channel></rss>`)
	}
}

// exits runs a command that must end with a code.
func exits(code int) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		var told *exec.ExitError
		err := ts.Exec(args[0], args[1:]...)
		if !errors.As(err, &told) || told.ExitCode() != code {
			ts.Fatalf("it ended with %v, want exit status %d", err, code)
		}
	}
}

// awaits waits until a peer that was started serves on its socket.
func awaits(ts *testscript.TestScript, _ bool, args []string) {
	deadline := time.Now().Add(30 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		c, err := net.Dial("unix", ts.MkAbs(filepath.Join(args[0], "feedring.sock")))
		if err == nil {
			ts.Check(c.Close())
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no peer runs on %s: %v", args[0], err)
		}
	}
}

// address sets a variable to an address of a running peer.
func address(ts *testscript.TestScript, _ bool, args []string) {
	var out bytes.Buffer
	if code := run([]string{"status", "--data", ts.MkAbs(args[1]), "--json"}, &out, &out); code != 0 {
		ts.Fatalf("status: %s", out.String())
	}
	var told struct{ Addrs []string }
	ts.Check(json.Unmarshal(out.Bytes(), &told))
	ts.Setenv(args[0], told.Addrs[0])
}

// keep gives a variable what the first group of an expression finds in stdout.
func keep(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("stdout has no %s", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// signalTwice tells all processes in the background to end, and at once again.
func signalTwice(ts *testscript.TestScript, _ bool, _ []string) {
	for _, c := range ts.BackgroundCmds() {
		ts.Check(c.Process.Signal(syscall.SIGTERM))
		ts.Check(c.Process.Signal(syscall.SIGTERM))
	}
}

// dead leaves a socket as a killed peer does.
func dead(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o700))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: ts.MkAbs(filepath.Join(args[0], "feedring.sock")), Net: "unix"})
	ts.Check(err)
	l.SetUnlinkOnClose(false)
	ts.Check(l.Close())
}

// fakePeer serves the API of a peer on a socket.
func fakePeer(env *testscript.Env) error {
	dir := filepath.Join(env.WorkDir, "peer")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	l, err := net.Listen("unix", filepath.Join(dir, "feedring.sock"))
	if err != nil {
		return err
	}
	s := &http.Server{Handler: fakeAPI()}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	env.Defer(func() { _ = s.Close(); <-done })
	return nil
}

func fakeAPI() http.Handler {
	mux := http.NewServeMux()
	say := func(pattern, text string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, text) })
	}
	refuse := func(w http.ResponseWriter, status int, detail string) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"status": status, "detail": detail})
	}
	const entry = `{"id":"e1","feed":"https://news.example/feed","provider":"news.example","theme":"news","title":"One\u001b[31m","url":"https://news.example/1","published":"2026-01-02T03:04:05Z","publisher":"P","via":"P"}`
	const retraction = `{"event":"retracted","id":%q,"feed":"https://news.example/feed","provider":"news.example","theme":"news","publisher":"P"}`
	mux.HandleFunc("GET /api/v1/entries", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("provider") == "own.example" {
			fmt.Fprintln(w, `{"event":"answered","via":"P","hops":0,"messages":0,"entries":0}`)
			return
		}
		switch r.FormValue("theme") {
		case "news":
			if r.FormValue("vouched") == "true" {
				fmt.Fprintln(w, `{"event":"answered","via":"P","theme":"news","hops":1,"messages":2,"entries":0}`)
				return
			}
			fmt.Fprintln(w, entry)
			fmt.Fprintln(w, `{"event":"answered","via":"P","theme":"news","hops":1,"messages":2,"entries":1}`)
		case "weather":
			fmt.Fprintln(w, entry)
			fmt.Fprintln(w, `{"event":"incomplete","missing":["weather"],"hops":4,"messages":9,"entries":1}`)
		case "crime":
			refuse(w, http.StatusBadRequest, "the peer does not like this")
		case "disaster":
			refuse(w, http.StatusServiceUnavailable, "the peer is busy: come back")
		default:
			fmt.Fprintln(w, `{"event":"unsatisfied","hops":3,"messages":5,"suggest":["sport"]}`)
		}
	})
	mux.HandleFunc("GET /api/v1/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "retry: 3000\n\nevent: entry\nid: after%s\ndata: %s\n\n", r.Header.Get("Last-Event-ID"), entry)
		fmt.Fprint(w, ": alive\n\nevent: answered\ndata: {\"event\":\"answered\",\"via\":\"P\",\"theme\":\"news\",\"hops\":0,\"messages\":0,\"entries\":1}\n\n")
		if r.FormValue("updates") == "true" {
			fmt.Fprintf(w, "event: retracted\nid: a\ndata: "+retraction+"\n\n", "e1")
			fmt.Fprintf(w, "event: retracted\nid: a\ndata: "+retraction+"\n\n", "never printed")
		}
		fmt.Fprint(w, "event: gap\ndata: {\"event\":\"gap\",\"theme\":\"news\",\"feed\":\"https://news.example/feed\",\"publisher\":\"P\"}\n\n")
		fmt.Fprint(w, "event: unserved\ndata: {\"event\":\"unserved\",\"themes\":[\"news\"]}\n\n")
		fmt.Fprintf(w, "event: entry\nid: b\ndata: {\"id\":\"e2\",\"provider\":\"news.example\",\"title\":\"Two after %s\",\"published\":\"2026-01-02T03:04:05Z\"}\n\n", r.Header.Get("Last-Event-ID"))
	})
	say("GET /api/v1/entries/own", `[{"id":"own","title":"Mine","publisher":"P","feed":"http://127.0.0.1/feed"}]`)
	say("GET /api/v1/entries/other", `[{"id":"other","title":"Theirs","publisher":"Q","feed":"https://spam.example/feed"},{"id":"other","title":"Theirs","publisher":"R","feed":"http://127.0.0.1/feed"}]`)
	mux.HandleFunc("DELETE /api/v1/users/zzz", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "there is none with this id")
	})
	say("GET /api/v1/ring", `[{"theme":"news","manager":"P","secondary":"Q","term":3,"peers":4,"feeds":9,"clients":12}]`)
	say("GET /api/v1/catalog/news", `{"theme":"news","manager":"P","term":3,"peers":[{"peer":"P","role":"manager","clients":4,"feeds":[{"title":"N","url":"https://news.example/feed","provider":"news.example"}]},{"peer":"Q","role":"peer","feeds":[],"keep_seconds":2592000}]}`)
	mux.HandleFunc("GET /api/v1/catalog/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "no such group") })
	say("GET /api/v1/status", `{"peer":"P","uptime_s":12,"feeds":[{"url":"https://news.example/feed","entries":3,"readers":7,"front":"http://127.0.0.1:7378/f/news.example/feed","join":"news.example"}],"new_field":{"a":[1,2]}}`)
	say("GET /api/v1/doctor", `{"checks":[{"name":"clock","ok":true,"detail":"agrees"},{"name":"vouched","ok":true,"note":true,"detail":"by nobody","advice":"publish"},{"name":"peers","ok":false,"detail":"nobody","advice":"join"}]}`)
	say("GET /api/v1/vouch", `{"document":{"network":"main"},"instructions":"Put it there.\n\n{\n  \"network\": \"main\"\n}\n","sites":[{"site":"news.example","vouched":true,"way":"dns"},{"site":"blog.example","vouched":false,"error":"x; y","told":["https://blog.example/.well-known/feedring: 404 Not Found","DNS has no TXT\n_feedring.blog.example"]}],"looks_s":3600,"vouched_looks_s":60}`)
	say("GET /api/v1/feeds", `[{"url":"https://news.example/feed","theme":"news","provider":"news.example","entries":3,"new_field":1,"readers":7,"front":"http://127.0.0.1:7378/f/news.example/feed"},{"url":"https://own.example/","provider":"own.example","entries":0,"error":"gone","join":"own.example"},{"url":"https://own.example/b","provider":"own.example","join":"own.example"},{"url":"https://id.example/","site_peer":"12D3\u001bx"}]`)
	mux.HandleFunc("POST /api/v1/feeds", func(w http.ResponseWriter, r *http.Request) {
		switch body, _ := io.ReadAll(r.Body); {
		case bytes.Contains(body, []byte("two.example")):
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"detail":"two feeds","feeds":[{"url":"https://two.example/a","title":"A\n$(x)"},{"url":"https://two.example/b?c=$(d)&e='f'"}]}`)
		case bytes.Contains(body, []byte("site.example")):
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"url":"https://site.example/feed.xml","site":"https://site.example/","join":"site.example"}`)
		case bytes.Contains(body, []byte("away.example")):
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"url":"https://away.example/","note":"no such host: it is fetched again"}`)
		case !bytes.Contains(body, []byte("news.example")):
			w.WriteHeader(http.StatusCreated)
		}
	})
	say("GET /api/v1/join", `[{"join":"fixed.example","from_config":true},{"join":"news.example","new_field":1}]`)
	mux.HandleFunc("POST /api/v1/join", func(w http.ResponseWriter, r *http.Request) {
		switch body, _ := io.ReadAll(r.Body); {
		case bytes.Contains(body, []byte("away.example")):
			fmt.Fprint(w, `{"join":"away.example","reached":[],"groups":[],"error":"nobody\nanswers there"}`)
		case bytes.Contains(body, []byte("empty.example")):
			fmt.Fprint(w, `{"join":"empty.example","reached":[{"peer":"P","addr":"/ip4/192.0.2.1/tcp/1"}],"groups":[],"known":true}`)
		default:
			fmt.Fprint(w, `{"join":"news.example","reached":[{"peer":"P","addr":"/ip4/192.0.2.1/tcp/1"},{"peer":"Q","addr":"/dns4/q.example/tcp/1"}],"groups":["news","sport"]}`)
		}
	})
	mux.HandleFunc("DELETE /api/v1/join", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("join") != "news.example" {
			refuse(w, http.StatusNotFound, "this peer does not join through that")
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	say("GET /api/v1/opml", `<opml version="2.0"/>`)
	mux.HandleFunc("POST /api/v1/opml", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case !bytes.Contains(body, []byte("<opml")):
			refuse(w, http.StatusUnprocessableEntity, "this is no OPML: it begins with <html>")
		case bytes.Contains(body, []byte("ftp:")):
			fmt.Fprintln(w, `[{"url":"ftp://a.example/","added":false,"error":"only http and https are fetched"}]`)
		default:
			fmt.Fprintf(w, `[{"url":"https://a.example/","theme":%q,"added":true},{"url":"https://b.example/","added":false},{"url":"x","added":false,"error":"folders=%s"}]`,
				r.FormValue("theme"), r.FormValue("folders"))
		}
	})
	mux.HandleFunc("DELETE /api/v1/feeds", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	const subscription = `{"id":"0a1b","theme":"news","q":"gaz","since":"2026-01-02T00:00:00Z","limit":7,"stem":true,"atom":"http://127.0.0.1:1/feeds/s.atom","rss":"http://127.0.0.1:1/feeds/s.rss","json":"http://127.0.0.1:1/feeds/s.json","new_field":1}`
	say("GET /api/v1/subscriptions", "["+subscription+"]")
	mux.HandleFunc("POST /api/v1/subscriptions", func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]any
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked["theme"] != "news" || asked["q"] != "gaz NOT sport" || asked["limit"] != 7.0 {
			refuse(w, http.StatusConflict, fmt.Sprint("asked for ", asked))
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintln(w, subscription)
	})
	mux.HandleFunc("DELETE /api/v1/subscriptions/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") != "0a1b" {
			refuse(w, http.StatusNotFound, "this peer keeps no personal feed with this id")
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("DELETE /api/v1/entries/{id}", func(w http.ResponseWriter, r *http.Request) {
		switch id := r.PathValue("id"); id {
		case "00000000000000000000000000000002", "00000000000000000000000000000003":
			also := `"confirmed_by":["Q"],"also_published_by":["OLD"]`
			if id[31] == '3' {
				also = `"confirmed_by":["Q"],"unproven_claims":[{"peer":"Q","published_by":"MADEUP"}]`
			}
			fmt.Fprintf(w, "["+strings.TrimSuffix(retraction, "}")+","+also+"}]\n", id)
			return
		}
		if id := r.PathValue("id"); id != "ffffffffffffffffffffffffffffffff" {
			fmt.Fprintf(w, "["+retraction+"]\n", id)
			return
		}
		refuse(w, http.StatusNotFound, "this entry is of none of this peer's feeds")
	})
	mux.HandleFunc("DELETE /api/v1/entries", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("url") == "https://news.example/1" {
			fmt.Fprintf(w, "["+retraction+"]\n", "00112233445566778899aabbccddeeff")
			return
		}
		refuse(w, http.StatusNotFound, "no entry has this address")
	})
	mux.HandleFunc("POST /api/v1/ping", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("news.example")) {
			fmt.Fprintln(w, `{"url":"https://news.example/feed","theme":"news","provider":"news.example","entries":3}`)
			return
		}
		refuse(w, http.StatusNotFound, "this is not one of the peer's feeds")
	})
	return mux
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/feedring/feedring"
)

const fakeVariable = "DEMO_TEST_PEER"

// TestMain lets the test program stand in for feedring.
func TestMain(m *testing.M) {
	if how := os.Getenv(fakeVariable); how != "" {
		os.Exit(fakePeer(how))
	}
	os.Exit(m.Run())
}

// fakePeer is a peer that knows a ring, or a reader of it. It keeps a file as
// long as it runs, if it is told where.
func fakePeer(how string) int {
	data := os.Args[slices.Index(os.Args, "--data")+1]
	if os.Args[1] == "follow" {
		fmt.Println(`{"id":"1","url":"http://old.example/"}`)
		time.Sleep(time.Minute) // it is told to end
	}
	if how == "broken" {
		fmt.Fprintln(os.Stderr, "no good")
		return 1
	}
	alive := filepath.Join(how, filepath.Base(data))
	if err := os.WriteFile(alive, nil, 0o600); err != nil {
		return 1
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go func() { _ = http.Serve(listener, http.HandlerFunc(fakeAPI)) }()
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"event": "ready", "peer": "12D3Koo" + filepath.Base(data), "http": "http://" + listener.Addr().String(),
		"addrs": []string{"/ip4/127.0.0.1/udp/1/quic-v1/p2p/12D3Koo", "/ip4/127.0.0.1/tcp/1/p2p/12D3Koo"},
	})
	<-ended
	if os.Remove(alive) != nil {
		return 1
	}
	return 0
}

func fakeAPI(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(testRing) }

var testRing = []feedring.RingGroup{
	{Theme: "weather", Manager: "12D3Koo3", Secondary: "12D3Koo7", Peers: 2, Feeds: 2},
	{Theme: "news", Manager: "12D3Koo1", Secondary: "12D3Koo2", Peers: 3, Feeds: 4},
	{Theme: "science", Manager: "12D3Koo4", Secondary: "12D3Koo5", Peers: 2, Feeds: 3},
	{Theme: "sport", Manager: "12D3Koo6", Secondary: "12D3Koo5", Peers: 2, Feeds: 3},
}

// runFake runs the demo with stand-ins and returns what it printed.
func runFake(t *testing.T, ctx context.Context, how string, o options) (string, error) {
	t.Helper()
	t.Setenv(fakeVariable, how)
	t.Setenv("TMPDIR", t.TempDir())
	o.binary = os.Args[0]
	var out strings.Builder
	err := run(ctx, o, &out)
	if left, e := os.ReadDir(os.Getenv("TMPDIR")); e != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, e)
	}
	return out.String(), err
}

func TestRun(t *testing.T) {
	alive := t.TempDir()
	out, err := runFake(t, t.Context(), alive, options{limit: 300 * time.Millisecond, every: 10 * time.Millisecond})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log(out)
	for _, want := range []string{
		"Peer 7 is up", "╭─▶ weather", "manager peer 1", "secondary peer 7", " query --network demo --peer /ip4/127.0.0.1/tcp/1/p2p/12D3Koo '",
		" follow --network demo", " ring --api http://127.0.0.1:", "published ", "Stopping 7 peers.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
	if left, _ := os.ReadDir(alive); len(left) > 0 {
		t.Errorf("peers that did not end in good order: %v", left)
	}
	commands := regexp.MustCompile(`(?m)^  \S+ (query|follow|ring) .*$`)
	if n := len(commands.FindAllString(out, -1)); n != 3 {
		t.Errorf("%d commands to try", n)
	}
	for _, line := range strings.Split(commands.ReplaceAllString(out, ""), "\n") {
		if utf8.RuneCountInString(line) > 80 && !strings.Contains(line, "http") {
			t.Errorf("%d characters: %s", utf8.RuneCountInString(line), line)
		}
	}
}

func TestInterruptIsNoError(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if out, err := runFake(t, ctx, t.TempDir(), options{every: time.Second}); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestPeerThatDoesNotStart(t *testing.T) {
	out, err := runFake(t, t.Context(), "broken", options{every: time.Second})
	if err == nil || !strings.Contains(err.Error(), "peer 1 ended at once") || !strings.Contains(err.Error(), "no good") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestNoBinary(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), options{binary: filepath.Join(t.TempDir(), "feedring"), every: time.Second}, &out)
	if err == nil || !strings.Contains(err.Error(), "make build") {
		t.Error(err)
	}
}

// until is what a demo prints. It kills peers of the demo, each when entries are counted and
// the one before was told of, and then ends the demo.
type until struct {
	strings.Builder
	left         []int // processes to kill
	killed, told int
	end          context.CancelFunc
}

func (u *until) Write(b []byte) (int, error) {
	u.told += strings.Count(string(b), "; the others go on")
	switch {
	case u.told < u.killed:
	case u.killed > 0 && len(u.left) == 0:
		u.end()
	case len(u.left) > 0 && strings.Contains(string(b), "published "):
		_ = syscall.Kill(u.left[0], syscall.SIGKILL)
		u.left = u.left[1:]
		u.killed++
	}
	return u.Builder.Write(b)
}

// TestPeerThatEnds kills the peers of a demo one by one: it tells of each and goes on,
// its reader at another one, until none is left.
func TestPeerThatEnds(t *testing.T) {
	t.Setenv(fakeVariable, t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	for _, all := range []bool{false, true} {
		from, err := openOrigin(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		defer from.server.Close()
		ctx, end := context.WithCancel(t.Context())
		defer end()
		out := until{end: end}
		n, err := newNetwork(os.Args[0], &out)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.start(from); err != nil {
			t.Fatal(err)
		}
		kill := n.peers
		if !all {
			kill = []*child{n.peers[0], n.contact()}
		}
		for _, c := range kill {
			out.left = append(out.left, c.cmd.Process.Pid)
		}
		err = show(ctx, options{binary: os.Args[0], every: 10 * time.Millisecond, limit: time.Minute}, from, n)
		if all != (err != nil) || all && err.Error() != "peer 7 ended by itself, and no peer is left" {
			t.Errorf("all: %v: %v", all, err)
		}
		if len(n.peers) == 0 != all || !all && len(n.peers) != peers-2 {
			t.Errorf("all: %v: %d peers are left", all, len(n.peers))
		}
		if !all && n.contact().name != "peer 6" {
			t.Errorf("the contact is %s", n.contact().name)
		}
		for _, want := range []string{"  peer 1 ended by itself; the others go on.", " ring --api http://127.0.0.1:"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is missing in:\n%s", want, out.String())
			}
		}
		if strings.Contains(out.String(), "end of its log") {
			t.Errorf("a log without lines is shown:\n%s", out.String())
		}
		if err := n.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDeadPeerIsTold kills a peer: the demo must not go on as if all were well.
func TestDeadPeerIsTold(t *testing.T) {
	t.Setenv(fakeVariable, t.TempDir())
	n, err := newNetwork(os.Args[0], io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	c, err := n.run("peer 1", []string{"serve", "--data", "1"})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-n.dead:
		t.Error("alive, and yet told to be dead")
	default:
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if <-n.dead != c {
		t.Error("another peer is told to be dead")
	}
	if err := n.close(); err != nil {
		t.Error(err)
	}
}

func TestCounts(t *testing.T) {
	c := &counts{published: 3, read: map[feedring.EntryID]bool{}}
	if s := c.String(); s != "published 3, read none yet" {
		t.Error(s)
	}
	for i, id := range []feedring.EntryID{"a", "b", "a"} {
		if got := c.take(id, time.Duration(i+1)*time.Second); got != (i < 2) {
			t.Errorf("%s taken: %v", id, got)
		}
	}
	if s := c.String(); s != "published 3, read 2; from origin to reader 1.5 s on average, 2.0 s at most" {
		t.Error(s)
	}
}

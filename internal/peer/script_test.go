package peer

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

var rewrite = flag.Bool("rewrite", false, "renew the traces in testdata")

// TestScripts plays testdata/*.txt. A block is one command, a line "----", and
// what the command prints: its result, and each message of a query, role and
// answer on the way, with the time since the start.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { playFile(t, file) })
	}
}

func playFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{cluster: newCluster(t)}
	s.traced = func(line string) {
		fmt.Fprintf(&s.out, "%v %s\n", s.now.Sub(epoch).Round(time.Millisecond), line)
	}
	var renewed strings.Builder
	scanner := bufio.NewScanner(strings.NewReader(string(text)))
	for scanner.Scan() {
		line := scanner.Text()
		fmt.Fprintln(&renewed, line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for scanner.Scan() && scanner.Text() != "" { // the old output
		}
		s.out.Reset()
		s.play(strings.Fields(line))
		fmt.Fprintf(&renewed, "----\n%s\n", s.out.String())
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(renewed.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := renewed.String(); got != string(text) {
		t.Errorf("%s has changed (look at it with -rewrite and git diff):\n%s", file, firstDifference(got, string(text)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d\n got: %s\nwant: %s", i+1, g[i], strings.Join(w[min(i, len(w)):min(i+1, len(w))], ""))
		}
	}
	return "it is longer"
}

type script struct {
	*cluster
	out strings.Builder
}

// play does one command.
//
//	net refresh=1s routing=ring       before the first start
//	start PEER [THEME=PROVIDER,…] [join=PEER]
//	restart PEER [join=PEER]          with what it has on disk
//	offer PEER [THEME=PROVIDER,…]     and nothing else
//	kill PEER | leave PEER            leave: in good order
//	later DURATION kill PEER          while the next command runs
//	cut PEER,PEER                     from all others; heal ends it
//	book THEME=PEER,…                 what the address book tells
//	run DURATION
//	await DURATION N                  until every peer sees N groups
//	ask PEER [theme=] [provider=] [within=]
//	ring PEER | roles
func (s *script) play(words []string) {
	verb, args := words[0], words[1:]
	options, specs := map[string]string{}, []string{}
	var who feedring.PeerID
	for i, arg := range args {
		name, value, isOption := strings.Cut(arg, "=")
		switch {
		case isOption && slices.Contains([]string{"refresh", "routing", "join", "theme", "provider", "within", "loss"}, name):
			options[name] = value
		case isOption:
			specs = append(specs, arg)
		case i == 0:
			who = feedring.PeerID(arg)
		}
	}
	switch verb {
	case "net":
		s.configure(options)
	case "start", "restart":
		s.startPeer(verb, who, options["join"], specs)
	case "offer":
		s.publish(who, specs...)
	case "kill":
		s.kill(who)
	case "later":
		s.later(s.now.Add(s.duration(args[0])), feedring.PeerID(args[2]))
	case "leave":
		s.step(who, Depart{})
	case "cut":
		for _, p := range strings.Split(args[0], ",") {
			s.side[feedring.PeerID(p)] = 1
		}
	case "heal":
		clear(s.side)
	case "book":
		theme, peers, _ := strings.Cut(args[0], "=")
		s.addressBook[feedring.Theme(theme)] = peerList(peers)
	default:
		s.look(verb, who, args, options)
	}
}

func (s *script) later(at time.Time, who feedring.PeerID) {
	s.watch = func() {
		if !s.now.Before(at) && !s.peers[who].down {
			s.kill(who)
			s.trace("%s is killed", who)
			s.watch = nil
		}
	}
}

func (s *script) look(verb string, who feedring.PeerID, args []string, options map[string]string) {
	switch verb {
	case "run":
		s.run(s.duration(args[0]), nil)
	case "await":
		var n int
		fmt.Sscan(args[1], &n)
		start := s.now
		if s.run(s.duration(args[0]), func() bool { return s.agree(n) }) {
			fmt.Fprintf(&s.out, "all see %d groups after %v\n", n, s.now.Sub(start))
			return
		}
		fmt.Fprintf(&s.out, "not all see %d groups\n", n)
	case "ask":
		within := 10 * time.Second
		if options["within"] != "" {
			within = s.duration(options["within"])
		}
		s.ask(who, feedring.Query{Theme: feedring.Theme(options["theme"]), Provider: options["provider"]}, within)
	case "ring":
		for _, row := range s.peers[who].ring.Live() {
			fmt.Fprintf(&s.out, "%s manager=%s secondary=%s term=%d peers=%d\n", row.Theme, row.Term.Claimant, row.Secondary, row.Term.Number, row.Peers)
		}
	case "roles":
		for _, name := range s.names {
			s.roles(name)
		}
	default:
		s.t.Fatalf("no command %q", verb)
	}
}

func (s *script) roles(name feedring.PeerID) {
	h := s.peers[name]
	if h.down {
		fmt.Fprintf(&s.out, "%s down\n", name)
		return
	}
	fmt.Fprintf(&s.out, "%s", name)
	for _, it := range h.inOrder() {
		fmt.Fprintf(&s.out, " %s:%s", it.theme, it.role)
	}
	fmt.Fprintln(&s.out)
}

func (s *script) configure(options map[string]string) {
	if options["refresh"] != "" {
		s.cfg.Refresh = s.duration(options["refresh"])
	}
	if options["routing"] == "ring" {
		s.cfg.Routing = RingOnly
	}
	if options["loss"] != "" {
		fmt.Sscan(options["loss"], &s.loss)
	}
}

func (s *script) startPeer(verb string, who feedring.PeerID, join string, specs []string) {
	h := s.start(who, peerList(join)...)
	if verb == "start" {
		if len(specs) > 0 {
			s.publish(who, specs...)
		}
		return
	}
	s.step(who, h.offer)
}

func peerList(text string) []feedring.PeerID {
	var list []feedring.PeerID
	for _, name := range strings.Split(text, ",") {
		if name != "" {
			list = append(list, feedring.PeerID(name))
		}
	}
	return list
}

func (s *script) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// agree reports whether every peer that runs sees n groups.
func (c *cluster) agree(n int) bool {
	for _, name := range c.names {
		if h := c.peers[name]; !h.down && len(h.ring.Live()) != n {
			return false
		}
	}
	return true
}

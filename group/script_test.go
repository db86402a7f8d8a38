package group

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

var rewrite = flag.Bool("rewrite", false, "write the traces of testdata/*.txt anew")

// TestScripts plays the files of testdata: a line that begins with "> " is a
// command, what follows is the trace that it gives. "hide" leaves verbs out of
// the trace where they are not the point; "#" begins a comment.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *rewrite {
				if err := os.WriteFile(f, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("%s", firstDifference(string(want), got))
			}
		})
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d:\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

type script struct {
	*cluster
	t      *testing.T
	out    strings.Builder
	hidden map[string]bool
	drop   map[string]bool
	asked  int
	stream uint64
}

func play(t *testing.T, text string) string {
	s := &script{cluster: newCluster(1), t: t, hidden: map[string]bool{}, drop: map[string]bool{}}
	s.trace = s.line
	s.loss = func(from, to feedring.PeerID, m Message) bool { return s.drop[string(m.Verb())] }
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "> "):
			s.out.WriteString(line + "\n")
			s.command(strings.Fields(line[2:]))
		case line == "" || strings.HasPrefix(line, "#"):
			s.out.WriteString(line + "\n")
		}
	}
	return s.out.String()
}

func (s *script) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for verb := range s.hidden {
		if strings.Contains(text, " "+verb+" ") {
			return
		}
	}
	fmt.Fprintf(&s.out, "%8.3f %s\n", s.now.Sub(testStart).Seconds(), text)
}

func (s *script) command(args []string) {
	id := feedring.PeerID("")
	if len(args) > 1 {
		id = feedring.PeerID(args[1])
	}
	switch args[0] {
	case "add", "restart":
		s.start(id, urls(args[2:])...)
	case "found":
		s.step(s.nodes[id], Establish{Above: atoi(args, 2)})
	case "connect":
		s.nodes[id].prefix = standing.Prefix(args[2])
	case "tell":
		s.tell(id, feedring.PeerID(args[2]), peers(args[3:]))
	case "join":
		s.step(s.nodes[id], Enter{Via: peers(args[2:])})
	case "rival":
		s.step(s.nodes[id], s.rivalOf(feedring.PeerID(args[2])))
	case "run":
		d, err := time.ParseDuration(args[1])
		if err != nil {
			s.t.Fatal(err)
		}
		s.run(d)
	case "publish":
		for range max(1, atoi(args, 3)) {
			s.publish(id, urls(args[2:3])[0])
			s.run(10 * time.Millisecond)
		}
	case "answers":
		s.answers = true
	case "hide":
		set(s.hidden, args[1:])
	case "show":
		clear(s.hidden)
	case "drop":
		clear(s.drop)
		set(s.drop, args[1:])
	default:
		s.fault(id, args)
	}
}

func (s *script) fault(id feedring.PeerID, args []string) {
	switch args[0] {
	case "partition":
		sides := strings.Split(strings.Join(args[1:], " "), "|")
		s.split(peers(strings.Fields(sides[0])), peers(strings.Fields(sides[1])))
	case "heal":
		s.heal()
	case "crash":
		s.crash(id)
	case "stop":
		s.nodes[id].paused = true
	case "continue":
		s.resume(id)
	case "leave":
		s.step(s.nodes[id], Depart{})
	case "lose":
		s.nodes[id].store = map[feedring.FeedRef][]testEntry{}
	case "site":
		s.site(id, args[2], args[3])
	case "keep":
		s.keep(id, args[2:])
	case "look":
		s.step(s.nodes[id], CheckSites{})
	case "nosite":
		delete(s.nodes[id].checks, feedring.FeedRef{URL: urls(args[2:3])[0], Publisher: feedring.PeerID(args[3])})
	case "load":
		for i := range atoi(args, 2) {
			n := s.nodes[id]
			s.stream++
			n.m.placer.Attach(s.stream, feedring.Ticket{
				ID: feedring.QueryID{9, byte(i), byte(s.stream)}, Group: n.m.group, Client: "reader", Peers: []feedring.PeerID{id}, Expiry: n.m.now.Add(time.Hour),
			})
		}
	case "place":
		s.place(id, args[2:])
	case "attach":
		s.attach(id, int(atoi(args, 2)))
	case "view":
		s.show(id)
	default:
		s.t.Fatalf("unknown command %v", args)
	}
}

// tell has a peer send rows that it made up, of peers that never were.
func (s *script) tell(id, to feedring.PeerID, of []feedring.PeerID) {
	n := s.nodes[id]
	rows := Rows{Header: n.m.header()}
	for _, p := range of {
		rows.Rows = append(rows.Rows, &Row{Group: n.m.group, Peer: p, Incarnation: 1, Version: 1, Admitted: s.now})
	}
	s.send(n, Send{To: to, Message: rows})
}

// rivalOf is what the ring's map shows of a manager.
func (s *script) rivalOf(id feedring.PeerID) Rival {
	m := s.nodes[id].m
	return Rival{Term: m.lead.claim.Term, Acknowledged: m.accepted(), Peers: []feedring.PeerID{id, m.lead.secondary}}
}

// site makes peer's looks at url find that it names publisher.
func (s *script) site(id feedring.PeerID, url, publisher string) {
	ref := feedring.FeedRef{URL: urls([]string{url})[0], Publisher: feedring.PeerID(publisher)}
	site := url[strings.LastIndex(url, ".")+1:] + ".example" // www.lemonde is of the site lemonde.example
	s.nodes[id].checks[ref] = Vouch{Site: site, Publisher: ref.Publisher}
}

func (s *script) place(id feedring.PeerID, args []string) {
	s.asked++
	p := Place{Header: Header{Group: testTheme.Group()}, ID: feedring.QueryID{byte(s.asked)}, Client: "reader", Within: time.Second}
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		switch key {
		case "provider":
			p.Provider = value
		case "since":
			age, _ := time.ParseDuration(value)
			p.Since = s.now.Add(-age)
		}
	}
	s.step(s.nodes[id], Receive{From: "client", Message: p})
	s.run(700 * time.Millisecond)
}

// keep lets a peer that starts next keep copies for a time, or with FEED@PEER
// tells one that runs how far its copy of a feed reaches.
func (s *script) keep(id feedring.PeerID, args []string) {
	age, _ := time.ParseDuration(args[len(args)-1])
	if len(args) == 1 {
		s.alter = func(c *Config) {
			if c.Self == id {
				c.Keep = age
			}
		}
		return
	}
	name, publisher, _ := strings.Cut(args[0], "@")
	c := Copy{Feed: feedring.FeedRef{URL: urls([]string{name})[0], Publisher: feedring.PeerID(publisher)}, Provider: feedring.Provider(name + ".example")}
	if args[1] != "all" {
		c.Since = s.now.Add(-age)
	}
	s.step(s.nodes[id], Kept{Copies: []Copy{c}})
}

// attach brings the client with the ticket of the n-th answer to a peer.
func (s *script) attach(id feedring.PeerID, n int) {
	s.stream++
	for _, p := range s.placed {
		if p.ID == (feedring.QueryID{byte(n)}) {
			s.step(s.nodes[id], Attach{Stream: s.stream, Ticket: p.Grants[0].Ticket})
		}
	}
}

func (s *script) show(id feedring.PeerID) {
	v := s.nodes[id].m.View()
	s.tracef("%s is %s of %s, manager %s, secondary %s, acknowledged %v", id, v.Role, termText(v.Term), v.Manager, v.Secondary, v.Acknowledged)
	for _, mem := range v.Members {
		line := fmt.Sprintf("  %s %s", mem.Row.Peer, mem.Role)
		if mem.Known {
			line += fmt.Sprintf(" clients=%d", mem.Leases)
		}
		for _, f := range mem.Row.Feeds {
			line += " " + short(f.URL)
			if by := v.VouchedBy(feedring.FeedRef{URL: f.URL, Publisher: mem.Row.Peer}); by != "" {
				line += "(vouched by " + by + ")"
			}
		}
		s.tracef("%s", line)
	}
	s.tracef("  away %v, heads %s", v.Away, headsText(s.nodes[id].m.Heads()))
}

func urls(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, "https://"+n+".example/rss")
	}
	return out
}

func peers(names []string) []feedring.PeerID {
	var out []feedring.PeerID
	for _, n := range names {
		out = append(out, feedring.PeerID(n))
	}
	return out
}

func set(m map[string]bool, names []string) {
	for _, n := range names {
		m[n] = true
	}
}

func atoi(args []string, i int) uint64 {
	if i >= len(args) {
		return 0
	}
	n, _ := strconv.ParseUint(args[i], 10, 64)
	return n
}

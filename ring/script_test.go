package ring

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

var rewrite = flag.Bool("rewrite", false, "renew the traces in testdata")

// TestScripts plays testdata/*.txt. A block is one command, a line "----", and
// what the command prints: its result, and the messages on the way, with the
// milliseconds since the command.
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
	s := &script{network: newNetwork(t)}
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
	} else if renewed.String() != string(text) {
		t.Errorf("%s has changed: look at it with -rewrite and git diff", file)
	}
}

type script struct {
	*network
	out   strings.Builder
	quiet bool
}

// play does one command.
//
//	peer NAME [PEER]          that meets PEER
//	manage NAME THEME [SECONDARY]
//	gone NAME THEME           a tombstone
//	down NAME | up NAME
//	cut NAME NAME | heal      no message between them
//	run DURATION [quiet]
//	search NAME SEAT THEME|all DURATION
//	ring NAME
func (s *script) play(words []string) {
	s.traceFrom(s.now)
	name := feedring.PeerID(words[1%len(words)])
	switch words[0] {
	case "peer":
		s.add(name)
		if len(words) > 2 {
			s.step(name, Meet{Peers: []feedring.PeerID{feedring.PeerID(words[2])}})
		}
	case "manage":
		s.manage(name, feedring.Theme(words[2]), feedring.PeerID(strings.Join(words[3:], "")))
	case "gone":
		s.gone(name, feedring.Theme(words[2]))
	case "down", "up":
		s.peers[name].down = words[0] == "down"
	case "cut":
		one, other := name, feedring.PeerID(words[2])
		s.cut = func(l packet) bool { return l.from == one && l.to == other || l.from == other && l.to == one }
	case "heal":
		s.cut = nil
	case "run":
		s.quiet = len(words) > 2
		s.run(duration(s.t, words[1]), nil)
		s.quiet = false
	case "search":
		theme := feedring.Theme(words[3])
		if theme == "all" {
			theme = ""
		}
		s.told(s.search(name, feedring.Theme(words[2]), theme, duration(s.t, words[4])))
	case "ring":
		for _, row := range s.peers[name].Live() {
			fmt.Fprintf(&s.out, "%s %s %s term %d version %d\n", row.Theme, row.Term.Claimant, row.Secondary, row.Term.Number, row.Version)
		}
	default:
		s.t.Fatalf("no command %q", words[0])
	}
}

func (s *script) gone(name feedring.PeerID, theme feedring.Theme) {
	row, _, _ := s.peers[name].Row(theme.Group())
	row.Gone = true
	s.step(name, Announce{Row: row})
}

func (s *script) told(e Ended) {
	fmt.Fprintf(&s.out, "ended: found %d, missing %v, hops %d, messages %d\n", len(e.Found), e.Missing, e.Hops, e.Messages)
}

func (s *script) traceFrom(start time.Time) {
	s.trace = func(l packet) {
		if !s.quiet {
			fmt.Fprintf(&s.out, "%d %s → %s %s\n", s.now.Sub(start).Milliseconds(), l.from, l.to, s.text(l.message))
		}
	}
}

func (s *script) text(message Message) string {
	switch x := message.(type) {
	case Versions:
		return fmt.Sprintf("versions of %d rows", len(x.Have))
	case Rows:
		return fmt.Sprintf("rows %s lost %d want %d", rowNames(x.Rows), len(x.Lost), len(x.Want))
	case Search:
		return fmt.Sprintf("search %s C=%d hop %d of %d", way(x.Direction), x.C, x.Hop, x.HopLimit)
	case SearchAck:
		return "search-ack " + way(x.Direction)
	case FoundGroup:
		return fmt.Sprintf("found %s hop %d", way(x.Direction), x.Hop)
	case Exhausted:
		return fmt.Sprintf("exhausted %s hop %d C=%d visited %d", way(x.Direction), x.Hop, x.C, len(x.Visited))
	default:
		return string(message.Verb())
	}
}

func rowNames(rows []*Row) string {
	var names []string
	for _, r := range rows {
		names = append(names, fmt.Sprintf("%s@%d.%d", r.Theme, r.Term.Number, r.Version))
	}
	return "[" + strings.Join(names, " ") + "]"
}

func way(d Direction) string {
	return map[Direction]string{Successor: "successor", Predecessor: "predecessor", Direct: "direct"}[d]
}

func duration(t *testing.T, text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

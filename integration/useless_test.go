package integration

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring"
)

// refused is how often a peer refused something at one place for one reason, by its own
// metrics.
func (p *peer) refused(t *testing.T, where, reason string) int {
	t.Helper()
	return p.refusals(t, fmt.Sprintf("reason=%q,where=%q} ", reason, where))
}

// refusals is how often a peer refused something, by its own metrics: whatever has labels
// that begin with these.
func (p *peer) refusals(t *testing.T, labels string) (sum int) {
	t.Helper()
	resp, err := (&http.Client{Timeout: 30 * time.Second}).Get(p.http + "/metrics")
	must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "feedring_refused_total{"+labels) {
			times, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]), 64)
			must(t, err)
			sum += int(times)
		}
	}
	return sum
}

// TestUselessSeals has one key send message after message with thousands of distinct
// statements, each well signed and none of any use. One of them is checked; what comes
// after is not, while members go on and another stranger is heard.
func TestUselessSeals(t *testing.T) {
	t.Parallel()
	o, n := newOrigin(t), newNetwork(t, "1s", "--interval", "200ms")
	p := n.peer(nil, "news=p@"+o.feed(newFeed("p", 3)))
	q := n.peer([]*peer{p}, "news=q@"+o.feed(newFeed("q", 3)))
	n.formed(map[string]int{"news": 2}, p, q)
	const messages, each = 8, 2000
	s := newStranger(t, p)
	useless := func(s *stranger, from int) ring.Rows {
		m := ring.Rows{}
		for i := range each {
			term := feedring.Term{Number: uint64(from + i + 1), Claimant: s.sealer.ID()}
			m.Lost = append(m.Lost, ring.Lost{Group: feedring.Theme("news").Group(), Term: term, Version: 1, By: s.sealer.ID()})
		}
		return m
	}
	for i := range messages {
		s.say(s.sealer, nil, useless(s, i*each))
	}
	// Messages on different streams may be read at once: a few more than one are checked.
	until(t, 60*time.Second, "most messages refused", func() bool { return p.refused(t, "useless", "share") >= messages-3 })
	t.Logf("%d of %d messages of %d statements were refused unchecked", p.refused(t, "useless", "share"), messages, each)
	before := p.refused(t, "useless", "share")
	s.say(s.sealer, nil, useless(s, messages*each))
	until(t, 60*time.Second, "the next message refused", func() bool { return p.refused(t, "useless", "share") > before })

	if r := command(t, "status", "--data", p.data); r.code != 0 || !strings.Contains(r.stdout, "useless") || !strings.Contains(r.stdout, "feedring block") {
		t.Errorf("the owner is told %s", r.stdout)
	}

	newMember(t, p)
	until(t, 20*time.Second, "another stranger heard", func() bool { return len(publishersIn(n.ownView(p, "news"))) == 3 })
	if r := n.query(p, "--theme", "news"); r.code != 0 || len(r.entries()) != 6 {
		t.Errorf("readers are answered %v", r)
	}
}

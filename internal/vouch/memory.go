package vouch

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/outbound"
	"github.com/feedring/feedring/internal/safehttp"
)

// Word is what a publisher itself says of a site.
type Word string

// The words.
const (
	SaysNothing Word = ""    // it is not known, or this peer is the publisher
	SaysNamed   Word = "yes" // that the site names it
	SaysNot     Word = "no"  // that it does not
)

// Hearsay is what is known before a site is asked. What a memory holds may
// contradict it: then the site is asked anew.
type Hearsay struct {
	Says  Word
	Asked time.Time // when the question came up: answers since then are good. Zero: none is
}

// How long answers are good, unless hearsay contradicts them.
const (
	namedFor    = time.Hour      // of a site that names the peer
	longest     = 21 * time.Hour // of one that does not; it begins with firstWaits. The shortest time between two checks of a feed's site: each daily check asks
	firstWaits  = 6              // times Memory's least, doubled by each answer like the one before
	mostLeast   = 10 * time.Second
	publicLeast = time.Minute // between two requests for one document, whoever says that it changed
	mostAnswers = 4096
	mostBytes   = 4 << 20 // of documents
)

// Memory asks sites through a Checker, one request at a time for a host, and
// remembers for a while what they said: feeds and publishers of one site share
// its answer. Who finds nothing at a site that does not change is told the old
// answer for longer and longer, up to a day. It is safe for concurrent use.
type Memory struct {
	checker  Checker
	least    time.Duration
	listener Listener // nil: nobody is told

	mu      sync.Mutex
	answers map[string]*answer
	bytes   int
	turns   map[string]*turn // by host
}

// Listener is told what is at the sites that were asked for their documents. It
// must not block.
type Listener interface {
	// SiteAnswered tells the document of a site; nil: the site has none. A site that
	// is down, or answers something else, tells nothing.
	SiteAnswered(site string, d *Document)
}

// Listen has a listener told from the first Check on.
func (m *Memory) Listen(l Listener) { m.listener = l }

// answer is what a site said one way.
type answer struct {
	doc        Document
	err        error
	at         time.Time     // when it was asked; zero: it said nothing yet
	questioned time.Time     // when somebody said that it may have changed
	same       int           // answers before this one that were like it
	inFlight   chan struct{} // closed when the request under way has ended; nil: none is
	bytes      int
	jitter     float64 // 0 to 1, by chance
}

// NewMemory returns an empty memory. No site is asked for one thing more often
// than once a minute, or in six times least at a private address, unless Forget is
// called; of least, at most 10 s count.
func NewMemory(c Checker, least time.Duration) *Memory {
	return &Memory{
		checker: c, least: min(least, mostLeast), answers: make(map[string]*answer), turns: make(map[string]*turn),
	}
}

// Check is Checker.Check, from memory where that is good enough. It may block
// for the requests of others to the same host: until ctx ends.
func (m *Memory) Check(ctx context.Context, site string, peer feedring.PeerID, feeds []string, h Hearsay) (Verdict, error) {
	return m.checker.check(ctx, site, peer, feeds, func(ctx context.Context, by Way, names func(Document) bool) (Document, error) {
		return m.recall(ctx, string(by)+" "+site, hostOf(site), h, names, func(ctx context.Context) (Document, error) {
			return m.checker.ask(ctx, by, site)
		})
	})
}

// CheckFeed is Checker.CheckFeed, from memory as Check is.
func (m *Memory) CheckFeed(ctx context.Context, feedURL, link string, peer feedring.PeerID, h Hearsay) (Verdict, error) {
	return m.checker.checkFeed(feedURL, link, peer, func(at string, names func(Document) bool) (Document, error) {
		return m.recall(ctx, string(InFeed)+" "+at, hostOf(SiteOf(at)), h, names, func(ctx context.Context) (Document, error) {
			return m.checker.getAt(ctx, at)
		})
	})
}

// Recheck makes sites be asked anew by the next Check, as soon as they may be:
// somebody says that they changed.
func (m *Memory) Recheck(sites ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, a := range m.answers {
		way, at, _ := strings.Cut(key, " ")
		if slices.Contains(sites, at) || Way(way) == InFeed && slices.Contains(sites, SiteOf(at)) {
			a.questioned = time.Now()
		}
	}
}

// Forget makes sites be asked anew by the next Check, however short ago they
// were: this peer's owner wants to know.
func (m *Memory) Forget(sites ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, site := range sites {
		m.drop(string(WellKnown) + " " + site)
		m.drop(string(DNS) + " " + site)
	}
	for key := range m.answers {
		if at, ok := strings.CutPrefix(key, string(InFeed)+" "); ok && slices.Contains(sites, SiteOf(at)) {
			m.drop(key)
		}
	}
}

// drop is called with mu held. A request under way tells those who wait for it,
// and nobody later.
func (m *Memory) drop(key string) {
	if a, ok := m.answers[key]; ok {
		m.bytes -= a.bytes
		delete(m.answers, key)
	}
}

// recall returns what is remembered under key, or asks.
func (m *Memory) recall(ctx context.Context, key, host string, h Hearsay, names func(Document) bool,
	get func(context.Context) (Document, error),
) (Document, error) {
	for {
		a, wait, good := m.claim(key, host, h, names)
		switch {
		case good:
			return a.doc, a.err
		case wait == nil:
			return m.fetch(ctx, key, host, a, get)
		}
		if err := pause(ctx, wait); err != nil {
			return Document{}, err
		}
	}
}

// claim returns a copy of what is remembered, if it is good enough; else what to
// wait for before looking again; else, the caller being the one who asks, where
// to keep the answer.
func (m *Memory) claim(key, host string, h Hearsay, names func(Document) bool) (_ *answer, wait <-chan struct{}, good bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.answers[key]
	if a == nil {
		a = &answer{}
		m.answers[key] = a
	}
	if a.inFlight != nil {
		return a, a.inFlight, false
	}
	if !a.at.IsZero() {
		known := &answer{doc: a.doc, err: a.err}
		age, named := time.Since(a.at), a.err == nil && names(a.doc)
		doubted := h.Says == SaysNamed && !named || h.Says == SaysNot && named || a.questioned.After(a.at)
		switch {
		case !h.Asked.IsZero() && a.at.After(h.Asked):
			return known, nil, true
		case doubted && age < m.between(host):
			return a, after(m.between(host) - age), false
		case !doubted && age < m.goodFor(a, host, named):
			return known, nil, true
		}
	}
	a.inFlight = make(chan struct{})
	return a, nil, false
}

// between is how long a host is not asked again for the same, whatever is heard.
func (m *Memory) between(host string) time.Duration {
	if safehttp.IsPrivateHost(host) {
		return firstWaits * m.least
	}
	return publicLeast
}

// goodFor spreads what began together over a fifth.
func (m *Memory) goodFor(a *answer, host string, named bool) time.Duration {
	d := namedFor
	if !named {
		d = min(firstWaits*m.least<<min(a.same, 20), longest)
	}
	return max(time.Duration(float64(d)*(0.8+a.jitter/5)), m.between(host))
}

// fetch asks, for all who wait for the answer. What ended because ctx did, or
// because the host is left alone, is no answer: the next of them asks.
func (m *Memory) fetch(ctx context.Context, key, host string, a *answer, get func(context.Context) (Document, error)) (Document, error) {
	var doc Document
	var began time.Time
	done, err := m.await(ctx, host)
	if err == nil {
		began = time.Now()
		doc, err = get(ctx)
		done()
		m.tell(key, &doc, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	close(a.inFlight)
	a.inFlight = nil
	switch {
	case ctx.Err() == nil && !errors.Is(err, errHeld) && !errors.Is(err, outbound.ErrSpent):
		m.keep(key, a, &answer{doc: doc, err: err, at: began})
	case a.at.IsZero() && m.answers[key] == a:
		delete(m.answers, key)
	}
	return doc, err
}

// tell tells the listener what a site's own document says.
func (m *Memory) tell(key string, doc *Document, err error) {
	site, document := strings.CutPrefix(key, string(WellKnown)+" ")
	var no *noDocument
	switch {
	case m.listener == nil || !document:
	case err == nil:
		m.listener.SiteAnswered(site, doc)
	case errors.As(err, &no) && no.absent:
		m.listener.SiteAnswered(site, nil)
	}
}

// keep is called with mu held.
func (m *Memory) keep(key string, a, now *answer) {
	if now.like(a) {
		now.same = a.same + 1
	}
	a.doc, a.err, a.at, a.same, a.jitter = now.doc, now.err, now.at, now.same, rand.Float64()
	if m.answers[key] != a {
		return // forgotten meanwhile
	}
	size := now.doc.size()
	m.bytes += size - a.bytes
	a.bytes = size
	for len(m.answers) > mostAnswers || m.bytes > mostBytes {
		if !m.dropOldest(a) {
			return
		}
	}
}

// like reports whether a says what b, the one before, said. Errors are alike:
// their texts tell ports and the like.
func (a *answer) like(b *answer) bool {
	return !b.at.IsZero() && (a.err == nil) == (b.err == nil) && (a.err != nil || reflect.DeepEqual(a.doc, b.doc))
}

// dropOldest drops the oldest answer but that of keep. It is called with mu held.
func (m *Memory) dropOldest(keep *answer) bool {
	oldest, found := "", false
	for key, a := range m.answers {
		if a != keep && a.inFlight == nil && (!found || a.at.Before(m.answers[oldest].at)) {
			oldest, found = key, true
		}
	}
	m.drop(oldest)
	return found
}

package cache

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	leastMaxAge = 10 * time.Second // while the origin is looked at
	mostMaxAge  = time.Hour        // however far away the next look is
)

// ErrLoop is for a request of this very process.
const ErrLoop = loopError("this peer asks itself for a feed: its site leads everybody here")

type loopError string

func (e loopError) Error() string { return string(e) }

const (
	answeredFull = iota
	answeredUnchanged
	answeredDelta
	answeredNot
	answerKinds
)

// Answers names what is counted: whole documents, 304, deltas, errors.
var Answers = [answerKinds]string{"whole", "unchanged", "delta", "error"}

// Counts is how many requests were answered, in the order of Answers.
func (r *Cache) Counts() (counts [answerKinds]uint64) {
	for kind := range counts {
		counts[kind] = r.counts[kind].Load()
	}
	return counts
}

// Answer answers a GET or HEAD of an address below Path. hub is the whole address
// of the peer's hub, empty for none. An error comes before anything was written:
// ErrUnknown, ErrNotYet, ErrLoop.
func (r *Cache) Answer(w http.ResponseWriter, req *http.Request, hub string) error {
	err := r.answer(w, req, hub)
	if err != nil {
		r.counts[answeredNot].Add(1)
	}
	return err
}

func (r *Cache) answer(w http.ResponseWriter, req *http.Request, hub string) error {
	p := pollOf(req)
	h, err := r.asked(p)
	if err != nil {
		return err
	}
	if p.Remote != "" {
		h.readers.Note(pollerOf(p), p.Agent, r.seed, r.cfg.Now())
	}
	made, err := r.ready(h, hub)
	if err != nil {
		return err
	}
	does := made.choose(p)
	r.counts[does.kind].Add(1)
	r.describe(w.Header(), h, made, does.coding)
	switch does.kind {
	case answeredUnchanged:
		w.WriteHeader(http.StatusNotModified)
		return nil
	case answeredDelta:
		w.Header()["Im"] = imFeed
		w.Header()["Cache-Control"] = imCache
	}
	made.describeBody(w.Header(), does)
	if does.kind == answeredDelta {
		w.WriteHeader(http.StatusIMUsed)
	} else {
		w.WriteHeader(http.StatusOK)
	}
	if !p.Head {
		_, _ = w.Write(does.body[does.coding].body) // who left needs no error
	}
	return nil
}

// asked is the feed that a poll is for.
func (r *Cache) asked(p *Poll) (*held, error) {
	if p.Loop != nil && strings.Contains(strings.Join(p.Loop, ","), r.loop) {
		return nil, ErrLoop
	}
	h := r.at(p.Path, p.Query)
	if h == nil {
		return nil, ErrUnknown
	}
	return h, nil
}

var (
	imFeed = []string{"feed"}
	// A cache that does not know deltas must not take one for the whole.
	imCache = []string{"no-store, im"}
	vary    = []string{"Accept-Encoding, A-IM"}
	anybody = []string{"*"}
	noPage  = []string{"default-src 'none'; sandbox; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"}
	foreign = []string{"cross-origin"}
)

// describe sets the headers that a 304 has, too. What an origin wrote is shown
// below this peer's own name, so a browser must run none of it.
func (r *Cache) describe(h http.Header, at *held, made *ready, c coding) {
	h["Etag"] = made.etags[c]
	h["Last-Modified"] = made.lastModified
	h["Vary"] = vary
	h["Link"] = made.link
	h["Cache-Control"] = []string{string(r.appendFreshness(nil, at))}
	h["Access-Control-Allow-Origin"] = anybody // readers that are web pages
	h["Cross-Origin-Resource-Policy"] = foreign
	h["Content-Security-Policy"] = noPage
}

// maxAge is for how long nothing new can come: until the next look.
func (r *Cache) maxAge(h *held) time.Duration {
	left := time.Unix(h.next.Load(), 0).Sub(r.cfg.Now())
	return min(max(left, leastMaxAge), mostMaxAge)
}

// describeBody sets the headers that tell of a body.
func (made *ready) describeBody(h http.Header, does choice) {
	h["Content-Type"] = made.contentType
	h["Content-Length"] = does.body[does.coding].length
	if does.coding != identity {
		h["Content-Encoding"] = codingNames[does.coding]
	}
}

// unchanged evaluates a request's conditions (RFC 9110, 13.2.2): a date counts
// only where no tag was given.
func (made *ready) unchanged(p *Poll) bool {
	if len(p.Tags) > 0 {
		for t := range given(p.Tags) {
			if t == "*" || strings.HasPrefix(t, made.tag) && isEnding(t[len(made.tag):]) {
				return true
			}
		}
		return false
	}
	if len(p.Since) == 0 {
		return false
	}
	since := p.Since
	if since[0] == made.lastModified[0] {
		return true
	}
	at, err := http.ParseTime(since[0])
	return err == nil && !made.of.Modified.After(at)
}

func isEnding(s string) bool {
	for _, ending := range endings {
		if s == ending {
			return true
		}
	}
	return false
}

// part is the delta that a poller asks for and can be given; nil: none.
func (made *ready) part(p *Poll) *packed {
	if len(p.Deltas) == 0 || !wantsFeed(p.Deltas) {
		return nil
	}
	for t := range given(p.Tags) {
		had, _, _ := strings.Cut(t, ".")
		if delta := made.delta(tag(had)); delta != nil {
			return delta
		}
	}
	return nil
}

// wantsFeed reads A-IM (RFC 3229, 10.5.3).
func wantsFeed(values []string) bool {
	for item := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if name, weight := weighed(item); name == "feed" && weight > 0 {
			return true
		}
	}
	return false
}

// given goes over the tags of a condition, without quotes and weakness.
func given(values []string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, value := range values {
			for t := range strings.SplitSeq(value, ",") {
				if !yield(strings.Trim(strings.TrimPrefix(strings.TrimSpace(t), "W/"), `"`)) {
					return
				}
			}
		}
	}
}

// choose takes the best coding that a request accepts (RFC 9110, 12.5.3).
func choose(values []string) coding {
	if len(values) == 0 {
		return identity
	}
	weights := [codings]float64{identity: 0.0001, gzipped: -1, brotlied: -1}
	others := -1.0
	for item := range strings.SplitSeq(strings.Join(values, ","), ",") {
		switch name, weight := weighed(item); name {
		case "gzip", "x-gzip":
			weights[gzipped] = weight
		case "br":
			weights[brotlied] = weight
		case "identity":
			weights[identity] = weight
		case "*":
			others = weight
		}
	}
	best := identity
	for _, c := range [...]coding{gzipped, brotlied} {
		if weights[c] < 0 {
			weights[c] = others
		}
		if weights[c] > 0 && weights[c] >= weights[best] {
			best = c
		}
	}
	return best
}

// weighed is an item of a list with its weight, 1 where it tells none.
func weighed(item string) (name string, weight float64) {
	name, params, has := strings.Cut(item, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	if !has {
		return name, 1
	}
	value, ok := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(params, " ", "")), "q=")
	if !ok {
		return name, 1
	}
	weight, err := strconv.ParseFloat(value, 64)
	if err != nil || weight < 0 || weight > 1 {
		return name, 0
	}
	return name, weight
}

// loopToken is what this process adds to its requests (RFC 8586).
func loopToken() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // documented never to fail
	return "feedring; id=" + hex.EncodeToString(id[:])
}

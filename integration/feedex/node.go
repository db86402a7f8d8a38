package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/sim/experiment/exchange"
)

// node is one of the machine's.
type node struct {
	*config
	nodeConfig
	client *http.Client
	mu     sync.Mutex
	rules  *exchange.Node // nil: it exchanges nothing
	seen   map[entry]time.Duration
	items  map[entry]item
	told   map[int][]uint8 // interests, as each neighbour has them
	theirs map[int][]uint8 // and as each neighbour told them
	counts counts
}

// entry is one by its number, which is the end of its guid.
type entry struct {
	feed   int
	number int32
}

// item is an entry in a feed's document, and in a bundle.
type item struct {
	GUID    string `xml:"guid"`
	Title   string `xml:"title"`
	Link    string `xml:"link"`
	Summary string `xml:"description"`
}

func newNode(c *config, of nodeConfig) *node {
	n := &node{
		config: c, nodeConfig: of, seen: make(map[entry]time.Duration), items: make(map[entry]item), told: make(map[int][]uint8), theirs: make(map[int][]uint8),
		client: &http.Client{Timeout: callWithin, Transport: &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute}},
	}
	if of.Port != 0 {
		n.rules = exchange.NewNode(c.Self, c.Feeds, c.Subscribed)
	}
	return n
}

// fetchAll fetches each feed at its times until the end.
func (n *node) fetchAll(ctx context.Context, running *sync.WaitGroup) {
	for i, feed := range n.Subscribed {
		running.Go(func() {
			tag := ""
			for at := n.First[i]; at < n.Length && n.wait(ctx, at); at += n.nodeConfig.Every {
				tag = n.fetch(ctx, running, feed, tag)
			}
		})
	}
}

// fetch asks an origin and takes what its document shows. It returns the document's tag.
func (n *node) fetch(ctx context.Context, running *sync.WaitGroup, feed int, tag string) string {
	items, now, err := n.get(ctx, n.nodeConfig.Feeds[feed], tag)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counts.Fetches++
	if err != nil {
		n.counts.FetchesFailed++
		return tag
	}
	var shown []int32
	at := n.now()
	for _, it := range slices.Backward(items) { // the oldest first
		e := entry{feed, it.number()}
		if _, ok := n.seen[e]; !ok {
			n.seen[e] = at
		}
		n.items[e] = it
		shown = append(shown, e.number)
	}
	if n.rules != nil && len(shown) > 0 {
		n.ask(ctx, running, n.rules.Fetched(at, feed, shown))
	}
	return now
}

// get returns what a document shows, if it is not as it was.
func (n *node) get(ctx context.Context, url, tag string) (items []item, now string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, tag, err
	}
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	answer, err := n.client.Do(r)
	if err != nil {
		return nil, tag, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, most))
	switch {
	case err != nil || answer.StatusCode == http.StatusNotModified:
		return nil, tag, err
	case answer.StatusCode != http.StatusOK:
		return nil, tag, errors.New(answer.Status)
	}
	var document struct {
		Items []item `xml:"channel>item"`
	}
	err = xml.Unmarshal(body, &document)
	return document.Items, answer.Header.Get("ETag"), err
}

func (it item) number() int32 {
	_, end, _ := strings.Cut(it.GUID, "-")
	n, _ := strconv.ParseInt(end, 10, 32)
	return int32(n)
}

// ask asks neighbours whether they have seen a bundle, all at once, and gives it to those
// that have not. The node is locked.
func (n *node) ask(ctx context.Context, running *sync.WaitGroup, checks []exchange.Check) {
	for _, c := range checks {
		running.Go(func() {
			answer, err := n.call(ctx, c.To, "check_did", text(did(c.Bundle)))
			if err != nil || answer.text() != "unseen" {
				return
			}
			n.mu.Lock()
			b, ok := n.rules.Unseen(c.To, c.Bundle)
			var bundle value
			if ok {
				bundle = n.written(b)
			}
			n.mu.Unlock()
			if ok {
				_, _ = n.call(ctx, c.To, "put_entries", bundle) // what is lost comes by another way
			}
		})
	}
}

// call calls a neighbour's function. The first argument of all is the port at which the
// caller listens.
func (n *node) call(ctx context.Context, to int, method string, params ...value) (value, error) {
	at := n.address(to)
	params = append([]value{number(n.Port)}, params...)
	answer, err := call(ctx, n.client, at, method, params...)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now() >= 0 {
		n.counts.Calls++
		if err != nil {
			n.counts.Failed++
		}
	}
	switch method {
	case "check_did":
		if n.counts.CheckBytes == 0 {
			n.counts.CheckBytes = sizeOf(at, method, params...)
		}
	case "put_entries":
		n.counts.PutBytes = max(n.counts.PutBytes, sizeOf(at, method, params...))
	}
	return answer, err
}

// address is where a node of this interval listens: all do at the same port.
func (n *node) address(machine int) string {
	return net.JoinHostPort(n.Machines[machine], strconv.Itoa(n.Port))
}

// did writes a bundle's identifier as long as a SHA-1 digest is in hexadecimal.
func did(id uint64) string { return fmt.Sprintf("%016x%024x", id, 0) }

func parseDID(s string) (uint64, error) {
	if len(s) != 40 {
		return 0, errors.New("an identifier of a bundle has 40 digits")
	}
	return strconv.ParseUint(s[:16], 16, 64)
}

// written is a bundle as it is put.
func (n *node) written(b exchange.Bundle) value {
	var entries, path []value
	for _, e := range b.Entries {
		it := n.items[entry{b.Feed, e}]
		entries = append(entries, structure(member{"id", text(it.GUID)}, member{"title", text(it.Title)}, member{"link", text(it.Link)}, member{"summary", text(it.Summary)}))
	}
	for _, m := range b.Path {
		path = append(path, text(n.address(m)))
	}
	return structure(member{"did", text(did(b.ID))}, member{"url", text(n.nodeConfig.Feeds[b.Feed])}, member{"path", array(path)}, member{"entries", array(entries)})
}

// read is written the other way.
func (n *node) read(v value) (b exchange.Bundle, items map[int32]item, err error) {
	if b.ID, err = parseDID(v.of("did").text()); err != nil {
		return b, nil, err
	}
	if b.Feed = slices.Index(n.nodeConfig.Feeds, v.of("url").text()); b.Feed < 0 {
		return b, nil, errors.New("nobody knows the feed")
	}
	for _, p := range v.of("path").values() {
		m, err := n.machine(p.text())
		if err != nil {
			return b, nil, err
		}
		b.Path = append(b.Path, m)
	}
	items = make(map[int32]item)
	for _, e := range v.of("entries").values() {
		it := item{e.of("id").text(), e.of("title").text(), e.of("link").text(), e.of("summary").text()}
		items[it.number()] = it
		b.Entries = append(b.Entries, it.number())
	}
	return b, items, nil
}

// machine is the number of the one with an address.
func (n *node) machine(address string) (int, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	i := slices.Index(n.Machines, host)
	if i < 0 {
		return 0, fmt.Errorf("%s is none of the machines", host)
	}
	return i, nil
}

// result is what the node has to say at the end.
func (n *node) result() result {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := result{Every: n.nodeConfig.Every, Alone: n.rules == nil, Counts: n.counts, Links: len(n.theirs)}
	for e, at := range n.seen {
		r.Fetched = append(r.Fetched, [3]time.Duration{time.Duration(e.feed), time.Duration(e.number), at})
	}
	if n.rules == nil {
		return r
	}
	for e := range n.items {
		if at, ok := n.rules.Held(e.feed, e.number); ok {
			r.Held = append(r.Held, [3]time.Duration{time.Duration(e.feed), time.Duration(e.number), at})
		}
	}
	return r
}

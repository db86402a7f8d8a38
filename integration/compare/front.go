package main

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	frontEntries = 20
	connections  = 8
	keptAlive    = "connections kept"
	oneEach      = "a connection for each"
	// mostRequests of one kind: a connection for each must not use up the ports.
	mostRequests = 20000
)

// fronts poll one feed's document at a publisher's peer, and at nginx.
func (b *bench) fronts() {
	var zipped []byte
	unzipped := func() []byte { return must(io.ReadAll(must(gzip.NewReader(bytes.NewReader(zipped))))) }
	hasNginx := nginxProgram() != ""
	sides := []side{{feedring, func() {
		o := b.origin(1, frontEntries)
		for i := range frontEntries - 1 {
			o.add(0, fmt.Sprintf("entry %d", i), text(i))
		}
		address := b.group(1, o)[0].HTTP + "/f/compare" + path(0)
		_, zipped = b.document(address)
		b.poll(feedring, address, nil)
		if hasNginx {
			at := must(url.Parse(address)) // as docs/publishers.md says
			servers := fmt.Sprintf("upstream peer { server %s; keepalive 16; }", at.Host)
			rules := fmt.Sprintf(`location = /feed.xml { proxy_pass http://peer%s; proxy_set_header X-Forwarded-For $remote_addr; proxy_http_version 1.1; proxy_set_header Connection ""; }`, at.Path)
			b.poll(feedring, address, new(b.nginx(unzipped(), zipped, rules, servers)))
		}
	}}}
	if hasNginx {
		sides = append(sides, side{nginx, func() {
			s := b.nginx(unzipped(), zipped, "", "")
			b.poll(nginx, s.document, nil)
			b.poll(nginx, s.document, &s)
		}})
	} else {
		fmt.Fprintln(os.Stderr, "front: nginx is left out, and with it TLS: this machine has none (apt-get install nginx-light)")
	}
	b.inTurn("front", sides...)
}

// document waits for the document, compressed.
func (b *bench) document(address string) (tag string, body []byte) {
	b.until(startWithin, "the document", func() bool {
		req := must(http.NewRequestWithContext(b.ctx, http.MethodGet, address, nil))
		req.Header.Set("Accept-Encoding", "gzip")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		tag, body = resp.Header.Get("Etag"), must(io.ReadAll(resp.Body))
		return resp.StatusCode == http.StatusOK && resp.Header.Get("Content-Encoding") == "gzip" && tag != ""
	})
	return tag, body
}

// poll makes each kind of request for some time, as fast as the server answers: of the
// document's address, or by TLS of the site that serves it.
func (b *bench) poll(side, address string, by *site) {
	tag, body := b.document(address)
	way := ""
	if by != nil {
		way, address = ", by TLS of nginx", "https://"+by.secured+"/feed.xml"
	}
	for _, connected := range []string{keptAlive, oneEach} {
		for _, answer := range []int{http.StatusNotModified, http.StatusOK} {
			what := fmt.Sprintf("feed of %d entries (%.1f KB, gzip) to pollers%s, %d, %s", frontEntries, float64(len(body))/1000, way, answer, connected)
			var made int
			used := use(b.pids(), func() { made = b.saturate(address, by, tag, answer, connected == keptAlive) })
			b.table.add(side, what, "requests a second", float64(made)/used.took.Seconds())
			b.table.add(side, what, "CPU of the server for one, µs", float64(used.cpu.Microseconds())/float64(made))
		}
	}
}

// saturate makes one kind of request over several connections at once, and
// returns how many.
func (b *bench) saturate(address string, by *site, tag string, answer int, kept bool) int {
	const within = 10 * time.Second
	c := &fasthttp.HostClient{Addr: must(url.Parse(address)).Host, MaxConns: connections, ReadTimeout: within, WriteTimeout: within, MaxIdemponentCallAttempts: 1}
	if by != nil {
		c.IsTLS, c.TLSConfig = true, &tls.Config{RootCAs: by.trusted, ServerName: "127.0.0.1"}
	}
	defer c.CloseIdleConnections()
	begun := time.Now()
	var made atomic.Int64
	var all sync.WaitGroup
	failed := make([]error, connections)
	for i := range connections {
		all.Go(func() {
			req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
			req.SetRequestURI(address)
			req.Header.Set("Accept-Encoding", "gzip")
			if answer == http.StatusNotModified {
				req.Header.Set("If-None-Match", tag)
			}
			for time.Since(begun) < b.front && b.ctx.Err() == nil && failed[i] == nil && (kept || made.Load() < mostRequests) {
				if !kept {
					req.SetConnectionClose()
				}
				failed[i] = c.Do(req, resp)
				if failed[i] == nil && resp.StatusCode() != answer {
					failed[i] = fmt.Errorf("%s answered %d, not %d", address, resp.StatusCode(), answer)
				}
				made.Add(1)
			}
		})
	}
	all.Wait()
	check(errors.Join(failed...))
	return int(made.Load())
}

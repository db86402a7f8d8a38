package plain

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/web"
)

// What a connection is given: for the head of a request, and to wait for the next.
const (
	HeadWithin = 5 * time.Second
	IdleWithin = time.Minute
)

const (
	// leastNext is how much of a further request net/http waits for before it takes it
	// for one.
	leastNext = 4
	// inOne is how much is copied to be written at once; more is not copied.
	inOne = 32 << 10
)

var (
	heads   = sync.Pool{New: func() any { b := make([]byte, firstHead); return &b }}
	answers = sync.Pool{New: func() any { b := make([]byte, 0, inOne); return &b }}
)

// conn is a connection that is answered here.
type conn struct {
	net.Conn
	s     *Server
	local netip.Addr // where it arrived
	head  []byte     // what was read and not yet answered
	q     request
	again bool      // one request at least was answered
	idle  time.Time // from when on the deadline for reading is for waiting; zero: it is for something else
}

// serve answers until the connection ends or is handed over.
func (c *conn) serve() {
	space := heads.Get().(*[]byte)
	c.head = (*space)[:0]
	over := false
	defer func() {
		if why := recover(); why != nil { // as net/http does: one request must not end the peer
			c.s.log.Error("a poll could not be answered", "err", why, "stack", string(debug.Stack()))
			over = false
		}
		var unread []byte
		if over {
			unread = bytes.Clone(c.head)
		}
		heads.Put(space)
		c.s.leave(c)
		if over {
			c.s.hand(c.Conn, unread)
		} else {
			_ = c.Close()
		}
	}()
	_ = c.SetReadDeadline(time.Now().Add(HeadWithin)) // what fails here fails in Read
	for {
		end := bytes.Index(c.head, headEnd)
		if end < 0 {
			if more, handOver := c.more(); !more {
				over = handOver
				return
			}
			continue
		}
		end += len(headEnd)
		if !c.q.read(string(c.head[:end])) {
			over = true
			return
		}
		switch wrote, err := c.answer(); {
		case err != nil || wrote && c.q.ends:
			return
		case !wrote:
			over = true
			return
		}
		c.again = true
		c.head = c.head[:copy(c.head, c.head[end:])]
		if !c.await(len(c.head) > 0) {
			return
		}
	}
}

// await sets the deadline for the next request; false: the server is closing.
func (c *conn) await(begun bool) bool {
	now := time.Now()
	switch {
	case begun:
		_ = c.SetReadDeadline(now.Add(HeadWithin))
		c.idle = time.Time{}
	case now.Sub(c.idle) > time.Second: // a new one for each request would cost more than it is worth
		_ = c.SetReadDeadline(now.Add(IdleWithin))
		c.idle = now
	}
	return !c.s.closing.Load()
}

// more reads on where no head is complete.
func (c *conn) more() (more, handOver bool) {
	begun := len(c.head) > 0 && (!c.again || len(c.head) >= leastNext)
	if begun && !mayBePlain(c.head) || len(c.head) == MaxHead {
		return false, true
	}
	if len(c.head) == cap(c.head) {
		larger := make([]byte, len(c.head), min(2*cap(c.head), MaxHead))
		copy(larger, c.head)
		c.head = larger
	}
	waited := len(c.head) == 0 && !c.idle.IsZero()
	n, err := c.Read(c.head[len(c.head):cap(c.head)])
	c.head = c.head[:len(c.head)+n]
	switch {
	case n > 0 && err == nil:
		if waited && !bytes.Contains(c.head, headEnd) && !c.await(true) {
			return false, false
		}
		return true, false
	case errors.Is(err, io.EOF):
		return false, begun // half a request is refused in words
	}
	return false, false
}

// answer writes the answer to what was read; false: it is for net/http.
func (c *conn) answer() (wrote bool, err error) {
	space := answers.Get().(*[]byte)
	defer answers.Put(space)
	head, body, ok := c.find((*space)[:0])
	if !ok {
		return false, nil
	}
	head = append(head, c.s.clock.line(time.Now())...)
	switch {
	case c.q.old:
		head[len("HTTP/1.")] = '0'
		if !c.q.ends {
			head = append(head, "Connection: keep-alive\r\n"...)
		}
	case c.q.ends:
		head = append(head, "Connection: close\r\n"...)
	}
	head = append(head, "\r\n"...)
	if len(head)+len(body) <= inOne {
		head = append(head, body...)
		body = nil
	}
	*space = head[:0]
	if _, err = c.Write(head); err == nil && body != nil {
		_, err = c.Write(body)
	}
	return true, err
}

// find asks the cache of published feeds, or the site for a personal feed, for the answer.
func (c *conn) find(head []byte) (_, body []byte, ok bool) {
	p := &c.q.poll
	name, personal := strings.CutPrefix(p.Path, web.PersonalPath)
	switch {
	case !personal && c.s.feeds == nil:
		return head, nil, false
	case !personal:
		return c.s.feeds.Plain(p, c.s.hub, head)
	case len(p.Deltas) > 0:
		return head, nil, false
	}
	return c.s.site.Plain(&web.PlainPoll{
		Name: name, Host: c.q.host, Local: c.local, Head: p.Head, Encodings: p.Encodings, Tags: p.Tags, Since: p.Since,
	}, head)
}

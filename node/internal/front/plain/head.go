package plain

import (
	"bytes"
	"strings"

	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/web"
)

// MaxHead is the longest head of a request; a longer one is for net/http to refuse.
const MaxHead = 32 << 10

const (
	firstHead = 4 << 10 // what a connection has for the head of a request at first
	maxLines  = 100
)

var (
	headEnd = []byte("\r\n\r\n")
	starts  = [...]string{"GET " + cache.Path, "HEAD " + cache.Path, "GET " + web.PersonalPath, "HEAD " + web.PersonalPath}
)

// mayBePlain reports whether the beginning of a head can become one that is
// answered here. What cannot is handed over at once: net/http may refuse it, or end
// its lines where this package does not.
func mayBePlain(begun []byte) bool {
	for _, start := range starts {
		n := min(len(start), len(begun))
		if string(begun[:n]) == start[:n] {
			return !hasBareBreak(begun)
		}
	}
	return false
}

// hasBareBreak reports whether there is an LF without CR.
func hasBareBreak(b []byte) bool {
	for at := 0; ; at++ {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return false
		}
		if at += i; at == 0 || b[at-1] != '\r' {
			return true
		}
	}
}

// request is what was read of a head. It is used again for the next.
type request struct {
	poll cache.Poll
	host string
	old  bool // HTTP/1.0
	ends bool // the connection, after the answer
}

func (q *request) clear() {
	p := &q.poll
	*q = request{poll: cache.Poll{
		Remote: p.Remote, Encodings: p.Encodings[:0], Tags: p.Tags[:0], Since: p.Since[:0],
		Deltas: p.Deltas[:0], Loop: p.Loop[:0], Forwarded: p.Forwarded[:0],
	}}
}

// read takes a whole head apart, with the empty line at its end. It is false for
// whatever is not a poll in its most ordinary form: that is for net/http. All that
// it takes net/http takes too, and understands alike.
func (q *request) read(head string) bool {
	q.clear()
	line, rest, _ := strings.Cut(head, "\r\n")
	if !q.readLine(line) {
		return false
	}
	connections := 0
	for range maxLines {
		if line, rest, _ = strings.Cut(rest, "\r\n"); line == "" {
			return q.host != "" && rest == ""
		}
		name, value, ok := field(line)
		if !ok {
			return false
		}
		var folded [len("if-unmodified-since")]byte
		p := &q.poll
		switch string(fold(&folded, name)) {
		case "host":
			if q.host != "" || !isPlainHost(value) {
				return false
			}
			q.host = value
		case "connection":
			connections++
			q.ends = strings.EqualFold(value, "close")
			if connections > 1 || !q.ends && !strings.EqualFold(value, "keep-alive") {
				return false
			}
		case "user-agent":
			if p.Agent == "" {
				p.Agent = value
			} else {
				return false
			}
		case "accept-encoding":
			p.Encodings = append(p.Encodings, value)
		case "if-none-match":
			p.Tags = append(p.Tags, value)
		case "if-modified-since":
			p.Since = append(p.Since, value)
		case "a-im":
			p.Deltas = append(p.Deltas, value)
		case "cdn-loop":
			p.Loop = append(p.Loop, value)
		case "x-forwarded-for":
			p.Forwarded = append(p.Forwarded, value)
		case "content-length", "transfer-encoding", "trailer", "te", "expect", "upgrade", "http2-settings", "proxy-connection",
			"range", "if-range", "if-match", "if-unmodified-since":
			return false
		}
	}
	return false
}

// readLine takes the request line apart.
func (q *request) readLine(line string) bool {
	method, rest, _ := strings.Cut(line, " ")
	target, version, _ := strings.Cut(rest, " ")
	if version != "HTTP/1.1" && version != "HTTP/1.0" || method != "GET" && method != "HEAD" ||
		!strings.HasPrefix(target, cache.Path) && !strings.HasPrefix(target, web.PersonalPath) {
		return false
	}
	q.poll.Head, q.old = method == "HEAD", version == "HTTP/1.0"
	q.ends = q.old // unless its sender says otherwise
	q.poll.Path, q.poll.Query, _ = strings.Cut(target, "?")
	return isPlainPath(q.poll.Path) && isPlainQuery(q.poll.Query)
}

// isPlainPath reports whether url.URL.EscapedPath gives a path back as it is.
func isPlainPath(path string) bool {
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '%':
			if i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2]) {
				return false
			}
		case !isAlphanumeric(c) && strings.IndexByte("/-._~$&+,;=:@!'()*", c) < 0:
			return false
		}
	}
	return true
}

func isPlainQuery(query string) bool {
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || c == '#' {
			return false
		}
	}
	return true
}

func isPlainHost(host string) bool {
	for i := range len(host) {
		if c := host[i]; !isAlphanumeric(c) && strings.IndexByte("-._:[]", c) < 0 {
			return false
		}
	}
	return host != ""
}

// field takes a line of the header apart. A folded one has no name.
func field(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	if !ok || name == "" {
		return "", "", false
	}
	for i := range len(name) {
		if c := name[i]; !isAlphanumeric(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return "", "", false
		}
	}
	for i := range len(value) {
		if c := value[i]; (c < ' ' || c >= 0x7f) && c != '\t' {
			return "", "", false
		}
	}
	return name, strings.Trim(value, " \t"), true
}

// fold is a name in lower case; empty: it is longer than all that matter.
func fold(to *[19]byte, name string) []byte {
	if len(name) > len(to) {
		return nil
	}
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		to[i] = c
	}
	return to[:len(name)]
}

func isAlphanumeric(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

func isHex(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'f' || c >= '0' && c <= '9'
}

package fetch

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/feedring/feedring/internal/origin/failure"
)

type kindOf = failure.Kind

const ok200 = "HTTP/1.1 200 OK\r\n"

// forever writes b until nobody reads it.
func forever(before, b string) func(net.Conn) {
	return func(conn net.Conn) {
		block := []byte(strings.Repeat(b, 1+32<<10/len(b)))
		_, err := io.WriteString(conn, before)
		for err == nil {
			_, err = conn.Write(block)
		}
	}
}

// hang writes b, and then nothing until the reader goes away.
func hang(b string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = io.WriteString(conn, b)
		_, _ = io.Copy(io.Discard, conn)
	}
}

// drip writes b, and then more of it so slowly that it never ends.
func drip(b, more string) func(net.Conn) {
	return func(conn net.Conn) {
		_, err := io.WriteString(conn, b)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for ; err == nil; <-tick.C {
			_, err = io.WriteString(conn, more)
		}
	}
}

func raw(name string, kind kindOf, words, answer string) hostile {
	return hostile{name: name, kind: kind, words: words, answer: []byte(answer)}
}

func headerClasses() []hostile {
	status := func(name string, kind kindOf, words, code string, headers ...string) hostile {
		return hostile{name: name, kind: kind, words: words, answer: httpStatus(code, inItem(""), headers...)}
	}
	const large = "the answer's header is larger than 64 KiB"
	return []hostile{
		{name: "a header without end", kind: tooLarge, words: large, serve: forever(ok200, "X-A: b\r\n")},
		{name: "one line of a header without end", kind: tooLarge, words: large, serve: forever(ok200+"X-A: ", "x")},
		raw("a header of a megabyte", tooLarge, large, ok200+"X-A: "+strings.Repeat("x", 1<<20)+"\r\n\r\n"),
		raw("a hundred thousand cookies", tooLarge, large, ok200+strings.Repeat("Set-Cookie: a=b\r\n", 100_000)+"\r\n"),
		{name: "a status without end", kind: tooLarge, words: large, serve: forever("HTTP/1.1 200 ", "O")},
		{name: "answers before the answer, without end", kind: tooLarge, words: large, serve: forever("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")},
		{name: "a slow header", kind: slow, words: "no answer after", slow: "header", serve: drip(ok200, "X-A: b\r\n")},
		{name: "no header", kind: slow, words: "no answer after", slow: "header", serve: hang("")},
		raw("a header that is none", network, "no HTTP answer", ok200+"this is no header\r\n\r\n"),
		raw("zeros in a header", network, "no HTTP answer", ok200+"X-\x00A: b\x00\r\n\r\n"),
		raw("HTTP/0.9", network, "no HTTP answer", inItem("")),
		{name: "HTTP of another age", entries: 1, answer: []byte("HTTP/9.9 200 OK\r\n\r\n" + inItem(""))},
		raw("a status that is no number", network, "no HTTP answer", "HTTP/1.1 20O OK\r\n\r\n"),
		raw("a status below all", network, "no HTTP answer", "HTTP/1.1 -01 OK\r\n\r\n"),
		raw("a status above all", failure.KindUnavailable, "999", "HTTP/1.1 999 Request denied\r\nContent-Length: 0\r\n\r\n"),
		raw("another protocol, SSH", network, "no HTTP answer", "SSH-2.0-OpenSSH_9.6\r\n"),
		raw("another protocol, SMTP", network, "no HTTP answer", "220 mail.example ESMTP\r\n"),
		raw("HTTP/2 unasked", network, "no HTTP answer", "\x00\x00\x12\x04\x00\x00\x00\x00\x00"),
		status("101 unasked", refused, "101", "101 Switching Protocols", "Upgrade: h2c"),
		status("204", refused, "204", "204 No Content"),
		status("206 unasked", refused, "206", "206 Partial Content", "Content-Range: bytes 0-10/5000"),
		status("226 unasked", refused, "226", "226 IM Used", "IM: feed"),
		status("304 unasked", refused, "304", "304 Not Modified"),
		status("300", refused, "300", "300 Multiple Choices"),
		status("401", refused, "401", "401 Unauthorized", `WWW-Authenticate: Basic realm="x"`),
		status("407 from no proxy", refused, "407", "407 Proxy Authentication Required", "Proxy-Authenticate: Basic"),
		status("511 of a hotel", failure.KindUnavailable, "511", "511 Network Authentication Required"),
		status("429 for a million years", failure.KindTooManyRequests, "wait 24h", "429 Too Many Requests", "Retry-After: 4294967295"),
		status("a challenge with 503", failure.KindUnavailable, "503", "503 Service Unavailable"),
		raw("words of a terminal in a status", refused, "418", "HTTP/1.1 418 \x1b[2Jteapot\x07\r\nContent-Length: 0\r\n\r\n"),
		{name: "many types at once", entries: 1, answer: http200(inItem(""), "Content-Type: text/html", "Content-Type: application/pdf; charset=utf-16", "Content-Type: ;;;")},
		{name: "a type of noise", entries: 1, answer: http200(inItem(""), "Content-Type: \xff\xfe/=;=;charset=\"")},
	}
}

func bodyClasses() []hostile {
	chunked := ok200 + "Transfer-Encoding: chunked\r\n\r\n"
	whole := inItem("")
	length := func(n string) string { return ok200 + "Content-Length: " + n + "\r\n\r\n" + whole }
	gz := ok200 + "Content-Encoding: gzip\r\n\r\n"
	return []hostile{
		{name: "a body without end", kind: tooLarge, words: "larger than 8 MiB", serve: forever(ok200+"\r\n", "<item>x</item>")},
		{name: "a body of chunks without end", kind: tooLarge, words: "larger than 8 MiB", serve: forever(chunked, "a\r\n0123456789\r\n")},
		{name: "chunks of one byte without end", kind: malformed, words: "no HTTP any more", serve: forever(chunked, "1;"+strings.Repeat("x", 60)+"\r\n \r\n")},
		{name: "a chunk's extension without end", kind: malformed, words: "no HTTP any more", serve: forever(chunked+"1;", "x")},
		{name: "trailers without end", kind: malformed, words: "no HTTP any more", serve: forever(chunked+"1\r\n \r\n0\r\n", "X-A: b\r\n")},
		{name: "gzip without end", kind: tooLarge, words: "larger than 8 MiB", serve: packedForever(gzipFlusher, "gzip", noise())},
		{name: "brotli without end", kind: tooLarge, words: "larger than 8 MiB", serve: packedForever(brotliFlusher, "br", noise())},
		{name: "gzip bomb without end", kind: tooLarge, words: "decompression bomb", serve: packedForever(gzipFlusher, "gzip", make([]byte, 1<<20))},
		{name: "a slow body", kind: slow, words: "not complete after", slow: "body", serve: drip(ok200+"\r\n<rss>", " ")},
		{name: "a body that never ends, nor goes on", kind: slow, words: "not complete after", slow: "body", serve: hang(ok200 + "\r\n" + whole)},
		{name: "a slow body, gzip", kind: slow, words: "not complete after", slow: "body", serve: hang(gz + string(packed("gzip", []byte(whole))[:40]))},
		raw("a length too long", truncated, "truncated at byte "+strconv.Itoa(len(whole)), length("5000")),
		raw("a length too short", truncated, "truncated at byte 80", length("80")),
		raw("a length of a terabyte", tooLarge, "larger than 8 MiB", length("1000000000000")),
		raw("a length below zero", network, "no HTTP answer", length("-1")),
		raw("a length that is none", network, "no HTTP answer", length("many")),
		raw("two lengths", network, "no HTTP answer", ok200+"Content-Length: 10\r\nContent-Length: 20\r\n\r\n"+whole),
		raw("a length of forty digits", network, "no HTTP answer", length(strings.Repeat("9", 40))),
		raw("chunks of garbage", malformed, "no HTTP any more", chunked+"zz\r\n"+whole),
		raw("a chunk of all memory", malformed, "no HTTP any more", chunked+"ffffffffffffffffff\r\n"+whole),
		raw("a chunk too long", truncated, "truncated at byte", chunked+"fffff\r\n"+whole),
		raw("chunks without their end", truncated, "truncated at byte", chunked+fmt.Sprintf("%x\r\n%s\r\n", len(whole), whole)),
		raw("another way of transfer", network, "no HTTP answer", ok200+"Transfer-Encoding: gzip\r\n\r\n"+whole),
		{name: "a second answer behind the first", entries: 1, answer: append(http200(whole), http200("<html>")...)},
	}
}

type flusher interface {
	io.Writer
	Flush() error
}

// packedForever compresses a megabyte once and writes it without end: a block
// that follows itself can be read again and again.
func packedForever(writer func(io.Writer) flusher, encoding string, content []byte) func(net.Conn) {
	return func(conn net.Conn) {
		var packed bytes.Buffer
		w := writer(&packed)
		_, err := w.Write(content)
		err = errors.Join(err, w.Flush())
		start := packed.Len()
		_, more := w.Write(content)
		err = errors.Join(err, more, w.Flush())
		if err == nil {
			_, err = fmt.Fprintf(conn, "%sContent-Encoding: %s\r\n\r\n%s", ok200, encoding, packed.Bytes()[:start])
		}
		for err == nil {
			_, err = conn.Write(packed.Bytes()[start:])
		}
	}
}

func gzipFlusher(w io.Writer) flusher   { return gzip.NewWriter(w) }
func brotliFlusher(w io.Writer) flusher { return brotli.NewWriterLevel(w, brotli.BestSpeed) }

// noise is a megabyte that can be packed to half of it.
func noise() []byte {
	random := make([]byte, 1<<19)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(random)
	return hex.AppendEncode(nil, random)
}

func redirectClasses() []hostile {
	to := func(name string, kind kindOf, words, location string) hostile {
		return hostile{name: name, kind: kind, words: words, answer: httpStatus("302 Found", "", "Location: "+location)}
	}
	const only = "only http and https are fetched"
	return []hostile{
		to("a redirect to itself", loop, "leads back to itself", "/feed"),
		{name: "redirects without end", kind: loop, words: "more than 10 redirects", serve: func(conn net.Conn) {
			_, _ = conn.Write(httpStatus("301 Moved", "", "Location: /"+strconv.FormatUint(rand.Uint64(), 36)))
		}},
		to("a redirect to file:", network, only, "file:///etc/passwd"),
		to("a redirect to ftp:", network, only, "ftp://127.0.0.1/feed"),
		to("a redirect to javascript:", network, only, "javascript:alert(1)"),
		to("a redirect to data:", network, only, "data:application/rss+xml,x"),
		to("a redirect to gopher:", network, only, "gopher://127.0.0.1:1/_x"),
		to("a redirect to nowhere", refused, "302", ""),
		to("a redirect to no address", network, "Location", "http://[::1"),
		to("a redirect without host", network, "no Host", "http:///feed"),
		to("a redirect to 50 KB", loop, "redirect loop: ", "/"+strings.Repeat("x", 50_000)),
		to("a redirect to a closed port", network, "connection refused", "http://127.0.0.1:1/"),
		{name: "a redirect without address", kind: refused, words: "301", answer: httpStatus("301 Moved Permanently", "")},
	}
}

func connectionClasses() []hostile {
	return []hostile{
		{name: "closed at once", kind: network, words: "closed the connection", serve: func(net.Conn) {}},
		raw("closed in the status", network, "no HTTP answer", "HTTP/1.1 20"),
		raw("closed in a header", network, "no HTTP answer", ok200+"Content-Ty"),
		{name: "reset in the body", kind: network, words: "the connection broke after", serve: reset(ok200 + "Content-Length: 5000\r\n\r\n<rss>")},
		{name: "TLS that is garbage", kind: network, words: "no TLS answer", tls: true, answer: bytes.Repeat([]byte("garbage "), 10_000)},
		{name: "TLS that is plain HTTP", kind: network, words: "HTTP response to HTTPS client", tls: true, answer: http200(inItem(""))},
		{name: "TLS that never begins", kind: slow, words: "too slow", tls: true, slow: "header", serve: hang("")},
		{name: "TLS closed at once", kind: network, words: "closed the connection", tls: true, serve: func(net.Conn) {}},
		{name: "TLS of nobody's certificate", kind: network, words: "certificate", tls: true, serve: nobodysTLS},
	}
}

// reset ends a connection in the rude way, once what it wrote has arrived.
func reset(b string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = io.WriteString(conn, b)
		tick := time.NewTimer(50 * time.Millisecond)
		<-tick.C
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
}

// nobodysTLS is TLS as it should be, by a certificate that nobody vouches for.
func nobodysTLS(conn net.Conn) {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	_ = tls.Server(conn, s.TLS).Handshake()
}

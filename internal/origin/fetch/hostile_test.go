package fetch

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/safehttp"
)

// hostile is a class of documents or servers that harm a reader which believes
// them.
type hostile struct {
	name string // for the page, and after "/" of the address

	// What the reader makes of it: an error of a kind with words, or for kind 0
	// as many entries.
	kind    failure.Kind
	words   string
	entries int

	answer []byte         // all that the server writes; nil: see serve
	serve  func(net.Conn) // speaks after the request's head was read, until the end of the connection
	slow   string         // "header" or "body": only a time-out ends this part of the answer
	tls    bool
}

// groups are the classes by the part of a fetch that they are out for. They are
// made anew for each call: some are of many megabytes.
func groups() []struct {
	title   string
	classes func() []hostile
} {
	return []struct {
		title   string
		classes func() []hostile
	}{
		{"Entities and declarations", entityClasses},
		{"Markup without end or measure", markupClasses},
		{"Very much of what a feed may have", contentClasses},
		{"JSON", jsonClasses},
		{"What is no feed", fileClasses},
		{"Characters", charsetClasses},
		{"Encodings of the body", encodingClasses},
		{"Headers and states", headerClasses},
		{"Bodies", bodyClasses},
		{"Redirects", redirectClasses},
		{"Connections", connectionClasses},
	}
}

// http200 is a whole answer.
func http200(body string, headers ...string) []byte {
	return httpStatus("200 OK", body, headers...)
}

func httpStatus(status, body string, headers ...string) []byte {
	head := "HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	for _, h := range headers {
		head += h + "\r\n"
	}
	return []byte(head + "\r\n" + body)
}

// doc is a class of documents that are refused.
func doc(name string, kind failure.Kind, words, body string) hostile {
	return hostile{name: name, kind: kind, words: words, answer: http200(body, "Content-Type: application/xml")}
}

// read is a class that is read, as far as it is a feed.
func read(name string, entries int, body string) hostile {
	return hostile{name: name, entries: entries, answer: http200(body, "Content-Type: application/xml")}
}

func inChannel(inside string) string {
	return `<?xml version="1.0"?><rss version="2.0"><channel><title>T</title>` + inside + "</channel></rss>"
}

func inItem(inside string) string {
	return inChannel("<item><guid>g</guid><title>t</title>" + inside + "</item>")
}

// hostileServer serves one class to every connection.
func hostileServer(t testing.TB, c hostile) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.speak(conn)
		}
	}()
	scheme := "http://"
	if c.tls {
		scheme = "https://"
	}
	return scheme + l.Addr().String() + "/feed"
}

func (c hostile) speak(conn net.Conn) {
	defer conn.Close()
	if !c.tls {
		in := bufio.NewReader(conn)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if line == "\r\n" {
				break
			}
		}
	}
	if c.answer != nil {
		_, _ = conn.Write(c.answer)
		return
	}
	c.serve(conn)
}

// outcome is what became of a fetch of a hostile server.
type outcome struct {
	Kind    failure.Kind
	Detail  string
	Entries int
}

// hostileLook fetches with the limits of a peer, except that it is less patient
// with the part of an answer that only time ends.
func hostileLook(ctx context.Context, address, slow string) (outcome, error) {
	cfg := safehttp.Config{AllowPrivate: true, UserAgent: UserAgent("test", "", 0)}
	switch slow {
	case "header":
		cfg.HeaderTimeout = 150 * time.Millisecond
	case "body": // whose header may come late on a busy machine
		cfg.BodyTimeout = 150 * time.Millisecond
	}
	client, err := safehttp.New(cfg)
	if err != nil {
		return outcome{}, err
	}
	defer client.CloseIdle()
	answer, err := NewFetcher(client, nil).Fetch(ctx, address, nil)
	var e *Error
	switch {
	case errors.As(err, &e):
		return outcome{Kind: e.Kind, Detail: e.Detail}, nil
	case err != nil:
		return outcome{}, err
	}
	return outcome{Entries: len(answer.Document.Items)}, nil
}

func (c hostile) judge(t *testing.T, got outcome) {
	t.Helper()
	if got.Kind != c.kind || !strings.Contains(got.Detail, c.words) || got.Entries != c.entries {
		t.Errorf("got %v, %q, %d entries; want %v, %q, %d entries", got.Kind, got.Detail, got.Entries, c.kind, c.words, c.entries)
	}
	if strings.ContainsAny(got.Detail, "\n\r\x00\x1b") || len(got.Detail) > 400 {
		t.Errorf("not one line for people: %q", got.Detail)
	}
}

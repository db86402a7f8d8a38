package decode

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/htmltext"
	"github.com/feedring/feedring/internal/safehttp"
)

// AcceptEncoding is what ReadBody can undo; deflate is not asked for, because
// servers disagree on what it is, but is read all the same.
const AcceptEncoding = "gzip, br"

// ReadBody reads a whole body and undoes its content encodings, given as in
// the header. It stops at the first byte over a limit.
func ReadBody(r io.Reader, encoding string) ([]byte, error) {
	raw := &counter{r: r}
	decoded, err := decoder(raw, encoding)
	if err == nil {
		var body []byte
		if body, err = readLimited(decoded, raw); err == nil {
			return body, nil
		}
	}
	var refused *failure.Error
	switch {
	case errors.As(err, &refused):
		return nil, refused
	case errors.Is(err, safehttp.ErrSlow):
		return nil, &failure.Error{Kind: failure.KindSlow, Detail: err.Error(), Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, failure.New(failure.KindTruncated, "the answer is truncated at byte %d", raw.n)
	case raw.err != nil:
		return nil, brokenOff(raw)
	}
	return nil, &failure.Error{Kind: failure.KindMalformed, Detail: "the answer says it is encoded as " + htmltext.Clip(encoding) + " and is not", Err: err}
}

// ReadPrefix reads at most limit bytes of a body and undoes its content
// encodings. A body that breaks off gives what there is of it; an encoding that
// cannot be undone is an error.
func ReadPrefix(r io.Reader, encoding string, limit int64) ([]byte, error) {
	decoded, err := decoder(r, encoding)
	if err != nil {
		return nil, err
	}
	prefix, _ := io.ReadAll(io.LimitReader(decoded, limit)) // what there is of it will do
	return prefix, nil
}

// brokenOff tells a connection that broke from a server that writes no HTTP.
func brokenOff(raw *counter) error {
	var connection net.Error
	after := plural(int(raw.n), "byte")
	if errors.As(raw.err, &connection) {
		return &failure.Error{Kind: failure.KindNetwork, Detail: "the connection broke after " + after, Err: raw.err}
	}
	return &failure.Error{Kind: failure.KindMalformed, Detail: fmt.Sprintf("the answer is no HTTP any more after %s: %s", after, htmltext.Clip(raw.err.Error())), Err: raw.err}
}

func readLimited(r io.Reader, raw *counter) ([]byte, error) {
	buf := make([]byte, 0, 64<<10)
	for {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, min(2*cap(buf), MaxBody+1)), buf...)
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > MaxBody:
			return nil, failure.New(failure.KindTooLarge, "the document is larger than %d MiB", MaxBody>>20)
		case len(buf) > ratioGrace && int64(len(buf)) > maxRatio*raw.n:
			return nil, failure.New(failure.KindTooLarge, "the answer expands more than %d times: a decompression bomb", maxRatio)
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return nil, err
		}
	}
}

// decoder undoes at most two encodings, the last one first.
func decoder(raw io.Reader, encoding string) (io.Reader, error) {
	var names []string
	for name := range strings.SplitSeq(strings.ToLower(encoding), ",") {
		if name = strings.TrimSpace(name); name != "" && name != "identity" {
			names = append(names, name)
		}
	}
	if len(names) > 2 {
		return nil, failure.New(failure.KindMalformed, "the answer is encoded %d times", len(names))
	}
	for i := len(names) - 1; i >= 0; i-- {
		var err error
		if raw, err = decodeOne(raw, names[i]); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

func decodeOne(r io.Reader, name string) (io.Reader, error) {
	switch name {
	case "gzip", "x-gzip":
		return gzip.NewReader(r)
	case "br":
		return brotli.NewReader(r), nil
	case "deflate":
		br := bufio.NewReader(r)
		if head, _ := br.Peek(2); len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			return zlib.NewReader(br)
		}
		return flate.NewReader(br), nil
	}
	return nil, failure.New(failure.KindMalformed, "the answer is encoded as %s, which was not asked for", htmltext.Clip(name))
}

// counter counts what came over the wire and keeps the wire's own error apart
// from those of the decoders.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

package decode

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"testing"

	"github.com/feedring/feedring/internal/origin/failure"
)

const rssDoc = `<?xml version="1.0"?><rss version="2.0"><channel><title>T</title><item><title>one</title></item></channel></rss>`

// FuzzReadBody: whatever a body is said to be encoded as, it is read within the
// limits or refused with a word of why.
func FuzzReadBody(f *testing.F) {
	for encoding, writer := range map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	} {
		var packed bytes.Buffer
		w := writer(&packed)
		_, err := io.WriteString(w, rssDoc)
		if err = errors.Join(err, w.Close()); err != nil {
			f.Fatal(err)
		}
		f.Add(packed.Bytes(), encoding)
		f.Add(packed.Bytes(), encoding+", gzip")
		f.Add(packed.Bytes()[:packed.Len()/2], encoding)
	}
	f.Add([]byte{0x0b, 0x02, 0x80, 'h', 'e', 'l', 'l', 'o', 0x03}, "br")
	f.Add([]byte(rssDoc), "identity,")
	f.Add([]byte(rssDoc), "zstd")
	f.Fuzz(func(t *testing.T, raw []byte, encoding string) {
		body, err := ReadBody(bytes.NewReader(raw), encoding)
		var refused *failure.Error
		switch {
		case err == nil && (len(body) > MaxBody || len(body) > max(ratioGrace, maxRatio*len(raw))):
			t.Fatalf("%d bytes became %d", len(raw), len(body))
		case err != nil && (!errors.As(err, &refused) || refused.Detail == "" || body != nil):
			t.Fatalf("%d bytes, %v", len(body), err)
		}
	})
}

package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"sync"
)

var gzips = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

// compressed is the body of an answer, which gzip makes smaller for those who
// take it so. It must be closed.
func compressed(w http.ResponseWriter, r *http.Request) io.WriteCloser {
	if !accepts(r.Header.Values("Accept-Encoding"), "gzip") || r.Method == http.MethodHead {
		return plainBody{w}
	}
	w.Header().Set("Content-Encoding", "gzip")
	z := gzips.Get().(*gzip.Writer)
	z.Reset(w)
	return gzipBody{z}
}

type plainBody struct{ io.Writer }

func (plainBody) Close() error { return nil }

type gzipBody struct{ *gzip.Writer }

func (b gzipBody) Close() error {
	err := b.Writer.Close()
	b.Reset(io.Discard)
	gzips.Put(b.Writer)
	return err
}

package cache

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/feedring/feedring/internal/origin/decode"
)

// maxHead bounds the first line of a file: what is known of a document.
const maxHead = 2 << 20

// head is the first line of a file; the document follows it, gzipped.
type head struct {
	Feed string `json:"feed"`
	Path string `json:"path"`
	doc
}

var errFile = errors.New("cache: no kept document")

func (r *Cache) file(feed string) string {
	sum := sha256.Sum256([]byte(feed))
	return filepath.Join(r.cfg.Dir, hex.EncodeToString(sum[:16]))
}

// save writes a document so that a crash leaves it or the one before.
func (r *Cache) save(h *held, d *doc) error {
	line, err := json.Marshal(head{h.feed, h.path, *d})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.Write(append(line, '\n'))
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // a level that there is; the file is read at a start
	_, _ = z.Write(d.body)                          // into memory, as below
	_ = z.Close()
	f, err := os.CreateTemp(r.cfg.Dir, ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(b.Bytes()); err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), r.file(h.feed))
}

// readHead reads what is known of a kept document.
func readHead(name string) (*head, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, _, err := headOf(f)
	return h, err
}

func headOf(f io.Reader) (*head, io.Reader, error) {
	rest := bufio.NewReader(f)
	raw, err := readLine(rest)
	if err != nil {
		return nil, nil, err
	}
	var h head
	if err := json.Unmarshal(raw, &h); err != nil || h.Feed == "" || h.Tag == "" {
		return nil, nil, errFile
	}
	return &h, rest, nil
}

// readLine reads at most maxHead bytes up to a line's end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxHead:
			return nil, errFile
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("%w: %w", errFile, err)
		}
	}
}

// bodyOf returns a document, from disk where it is not in memory.
func (r *Cache) bodyOf(h *held, d *doc) ([]byte, error) {
	if d.body != nil {
		return d.body, nil
	}
	f, err := os.Open(r.file(h.feed))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	kept, rest, err := headOf(f)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(rest)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(z, decode.MaxBody+1))
	switch {
	case err != nil:
		return nil, err
	case kept.Tag != d.Tag || tagOf(body) != d.Tag:
		return nil, errFile
	}
	return body, nil
}

// outageOver is for how long the disk must have had room before it counts as full
// anew: a little room comes and goes.
const outageOver = 10 * time.Second

// outage is a full disk, which concerns all documents and is told once.
type outage struct {
	mu   sync.Mutex
	last time.Time // when it was full; zero: it is over
}

// tell takes in how a write went, and reports whether its error is to be told.
func (o *outage) tell(err error, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		first := o.last.IsZero()
		o.last = now
		return first
	case err == nil && now.Sub(o.last) >= outageOver:
		o.last = time.Time{}
	}
	return err != nil
}

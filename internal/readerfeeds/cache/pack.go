package cache

import (
	"bytes"
	"compress/gzip"
	"strconv"

	"github.com/andybalholm/brotli"
	"github.com/andybalholm/brotli/matchfinder"
)

// coding is a content coding that a poller takes.
type coding uint8

const (
	identity coding = iota
	gzipped
	brotlied
	codings
)

var codingNames = [codings][]string{gzipped: {"gzip"}, brotlied: {"br"}}

// endings tell validators of one version apart by its coding: other bytes are
// another representation.
var endings = [codings]string{gzipped: "-gzip", brotlied: "-br"}

// packed is a document in each coding, and the headers that go with each.
type packed [codings]struct {
	body   []byte
	length []string
}

// pack compresses a document. It takes about 50 ms for a MiB.
func pack(plain []byte) *packed {
	var p packed
	p[identity].body = plain
	p[gzipped].body = zip(plain)
	p[brotlied].body = brotlify(plain)
	for c := range p {
		p[c].length = []string{strconv.Itoa(len(p[c].body))}
	}
	return &p
}

func zip(plain []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a level that there is
	_, _ = z.Write(plain)                                 // into memory, as below
	_ = z.Close()
	return b.Bytes()
}

// brotlify is the encoder's middle way, named by its parts: to choose a level at
// run time links all of them, which is most of a megabyte.
func brotlify(plain []byte) []byte {
	var b bytes.Buffer
	w := matchfinder.Writer{
		Dest: &b, MatchFinder: &matchfinder.Bargain2{MaxDistance: 1 << 20, Skip: true}, Encoder: new(brotli.Encoder), BlockSize: 1 << 16,
	}
	_, _ = w.Write(plain)
	_ = w.Close()
	return b.Bytes()
}

func (p *packed) weight() int {
	sum := 512
	for c := range p {
		sum += cap(p[c].body)
	}
	return sum
}

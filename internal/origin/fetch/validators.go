package fetch

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
)

// maxValidator bounds what is kept of an origin's header, in bytes.
const maxValidator = 1024

// Validators are what an origin gave to ask "has it changed?" with. They are
// sent back byte for byte.
type Validators struct {
	ETag         Opaque `json:"etag,omitempty"`
	LastModified Opaque `json:"last_modified,omitempty"`
}

// Opaque is a header's value that only its origin understands. It may hold
// bytes that are no UTF-8, so its text form is base64.
type Opaque string

// MarshalText writes base64.
func (o Opaque) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(o)), nil
}

// UnmarshalText reads base64.
func (o *Opaque) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || len(raw) > maxValidator {
		return fmt.Errorf("validator: %w", errState)
	}
	*o = Opaque(raw)
	return nil
}

func readValidators(h http.Header) Validators {
	return Validators{ETag: opaque(h, "Etag"), LastModified: opaque(h, "Last-Modified")}
}

// mayChangeUnseen reports whether a document was modified in the second in which it
// was sent. A further change in that second has the same Last-Modified, and with
// WordPress the same ETag, so the next fetch must ask for the whole document
// (RFC 9110, 8.8.2.2). An origin that dates every answer with the present costs one
// such fetch for each change.
func mayChangeUnseen(h http.Header) bool {
	modified, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil {
		return false
	}
	sent, err := http.ParseTime(h.Get("Date"))
	return err == nil && !modified.Before(sent)
}

// opaque returns a header as it came. One that is absurdly long is not kept, nor
// one that cannot be sent: it would end the feed.
func opaque(h http.Header, key string) Opaque {
	v := h.Get(key)
	if len(v) > maxValidator || strings.ContainsFunc(v, isControl) {
		return ""
	}
	return Opaque(v)
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

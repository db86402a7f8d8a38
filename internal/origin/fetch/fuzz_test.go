package fetch

import (
	"bytes"
	"net/http"
	"testing"
	"time"
)

// FuzzValidator reads the text forms that a saved state is made of: what is
// read is written and read again as the same.
func FuzzValidator(f *testing.F) {
	f.Add([]byte("IgD/Ig=="))
	f.Add([]byte("2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, text []byte) {
		var o, sameOpaque Opaque
		if o.UnmarshalText(text) == nil {
			written, err := o.MarshalText()
			if err != nil || sameOpaque.UnmarshalText(written) != nil || o != sameOpaque || len(o) > maxValidator {
				t.Fatalf("%q became %q: %v", o, sameOpaque, err)
			}
		}
		var h, sameHash BodyHash
		if h.UnmarshalText(text) == nil {
			written, err := h.MarshalText()
			if err != nil || sameHash.UnmarshalText(written) != nil || h != sameHash || !bytes.EqualFold(written, text) {
				t.Fatalf("%x became %x: %v", h, sameHash, err)
			}
		}
	})
}

// FuzzHints: whatever an origin's headers say of the next fetch, it is between
// now and the longest pause.
func FuzzHints(f *testing.F) {
	f.Add("120", `public, max-age="60"`, "30", "Thu, 01 Jan 2026 00:00:00 GMT", "Fri, 02 Jan 2026 00:00:00 GMT")
	f.Add("Fri, 02 Jan 2026 00:00:00 GMT", "no-store", "", "", "")
	f.Add("-1", "max-age=99999999999", "9", "x", "Fri, 31 Dec 9999 23:59:59 GMT")
	f.Fuzz(func(t *testing.T, retry, control, age, date, expires string) {
		h := http.Header{}
		for key, value := range map[string]string{
			"Retry-After": retry, "Cache-Control": control, "Age": age, "Date": date, "Expires": expires, "Etag": retry,
		} {
			h.Set(key, value)
		}
		hints := ReadHints(h, start)
		for _, d := range []time.Duration{hints.RetryAfter, hints.MaxAge} {
			if d < 0 || d > MaxHint {
				t.Fatalf("%v: %+v", h, hints)
			}
		}
		if v := readValidators(h); len(v.ETag) > maxValidator {
			t.Fatalf("an ETag of %d bytes is kept", len(v.ETag))
		}
	})
}

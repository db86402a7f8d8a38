package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// Lines prints JSON, one object a line, and keeps the first error.
type Lines struct {
	Err error
	w   io.Writer
}

// NewLines prints to w.
func NewLines(w io.Writer) *Lines { return &Lines{w: w} }

// Print writes v on one line, unless an earlier line failed.
func (l *Lines) Print(v any) {
	if l.Err != nil {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if l.Err = e.Encode(v); l.Err == nil {
		_, l.Err = l.w.Write(escapeControls(b.Bytes()))
	}
}

// escapeControls escapes characters that JSON allows in a string and a terminal
// would act on. The value stays the same.
func escapeControls(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// Raw prints what a peer answered on one line, unchanged.
func Raw(w io.Writer, raw json.RawMessage) error {
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return fmt.Errorf("the peer's answer cannot be read: %w", err)
	}
	_, err := fmt.Fprintln(w, line.String())
	return err
}

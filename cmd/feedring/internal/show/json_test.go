package show

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestLinesAreHarmless prints what a terminal would act on: the value stays,
// the characters are escaped.
func TestLinesAreHarmless(t *testing.T) {
	const title = "a\x7fb\u0085c\u009b31md\u202ee\u2066f\x1bg <é>"
	var b bytes.Buffer
	NewLines(&b).Print(map[string]string{"title": title})
	const want = `{"title":"a\u007fb\u0085c\u009b31md\u202ee\u2066f\u001bg <é>"}` + "\n"
	if b.String() != want {
		t.Errorf("%q, not %q", b.String(), want)
	}
	var back map[string]string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back["title"] != title {
		t.Errorf("%q: %v", back["title"], err)
	}
}

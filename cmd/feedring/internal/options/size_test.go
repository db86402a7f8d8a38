package options

import "testing"

func TestSize(t *testing.T) {
	for text, want := range map[string]struct {
		bytes Size
		shown string
	}{
		"500MB": {500e6, "500MB"}, "20GB": {20e9, "20GB"}, "1 TiB": {1 << 40, "1TiB"}, "2048MiB": {2 << 30, "2GiB"},
		"": {}, "20": {}, "GB": {}, "-1GB": {}, "1.5GB": {}, "9MB": {}, "9999999TB": {}, "4294967295TiB": {}, "16777216TiB": {}, "1gb": {}, "1 G B": {},
	} {
		var s Size
		err := s.Set(text)
		switch {
		case want.shown == "" && err == nil:
			t.Errorf("%q is taken as %d", text, s)
		case want.shown != "" && (err != nil || s != want.bytes || s.String() != want.shown):
			t.Errorf("%q is %d, shown as %s: %v", text, s, s.String(), err)
		}
	}
}

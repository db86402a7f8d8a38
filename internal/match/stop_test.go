package match

import "testing"

func TestStopWords(t *testing.T) {
	for word, want := range map[string]bool{
		"the": true, "les": true, "und": true, "что": true,
		"car": false, "or": false, "die": false, "son": false, "energie": false, "": false,
	} {
		if IsStop(word) != want {
			t.Errorf("IsStop(%q) = %v", word, !want)
		}
	}
	for word := range stopWords {
		if !IsStop(word) {
			t.Errorf("%q is too long", word)
		}
		if words := Fold(word); len(words) != 1 || words[0] != word {
			t.Errorf("%q is folded to %q, so it is never found", word, words)
		}
	}
}

package match

import "strings"

// IsStop reports whether a folded word is one of those that nearly every entry
// of some language has, so that looking for it alone finds nearly everything.
// Beside other words it asks what it says. A word that is common in one
// language and has a meaning of its own in another ("car", "die", "or", "son",
// "main") is none: a reader of the other one may look for it alone.
func IsStop(word string) bool { return len(word) <= maxStop && stopWords[word] }

// maxStop is the length of the longest of them, in bytes.
const maxStop = 6

// stopWords holds the words as Fold writes them.
var stopWords = func() map[string]bool {
	words := make(map[string]bool)
	for _, language := range []string{
		"a e i o u y d l n s",
		"the of and to in that is it for on was with as be by at from are this an has have not but they his her which you we he she",
		"le la les de des du un une et est que qui dans en au aux ce ces il elle ne pas se par avec sont mais nous vous",
		"der den dem ein eine einer einen und ist zu von im auf nicht sich das fur auch dass wird",
		"el los las del con es una uno lo al por para como se su sus",
		"il di che gli della delle dei degli nel nella alla per non sono",
		"os as um uma do da dos das no na nos nas em ao com nao mais",
		"het een op te dat zijn voor niet met aan",
		"och att det som pa av til og i ikke",
		"w z na nie sie do jest",
		"и в не на что с по к а у из за от о для как это",
		"и у на да се је за",
		"ve bir bu da",
	} {
		for word := range strings.FieldsSeq(language) {
			words[word] = true
		}
	}
	return words
}()

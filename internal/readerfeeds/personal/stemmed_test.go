package personal

import (
	"testing"

	"github.com/feedring/feedring"
)

func in(language string) func(*feedring.Entry) {
	return func(e *feedring.Entry) { e.Language = language }
}

// TestStemmed: who asks for it is given other forms of the words, each in the
// language of the entry's feed; nobody else is.
func TestStemmed(t *testing.T) {
	w := newWorld(t)
	w.network.answer = []feedring.Entry{
		entry("P", "a.example", 2, titled("élections-2"), in("fr")), entry("P", "a.example", 1, titled("nothing"), in("fr")),
	}
	plain, stemmed := w.subscribe(feedring.Query{Theme: "news", Words: "élection"}), w.subscribeTo(feedring.Query{Theme: "news", Words: "élection"}, true)
	broad, gone := w.subscribeTo(feedring.Query{Words: "NOT élection", Theme: "news"}, true), w.subscribeTo(feedring.Query{Words: "élection gaz"}, true)
	w.shows(stemmed, "élections-2")
	w.publish(entry("P", "a.example", 3, titled("les-élections-3"), in("fr-CA")))
	w.publish(entry("P", "a.example", 4, titled("élections-4"), in("zh"))) // of no language that is known
	w.publish(entry("P", "a.example", 5, titled("élection-5"), in("zh")))
	w.publish(entry("P", "a.example", 6, titled("élections-6"), in("fr")))
	check(t, w.room.Unsubscribe(t.Context(), gone.ID))
	late := w.subscribeTo(feedring.Query{Words: "mairie", Theme: "news"}, true)
	w.publish(entry("P", "a.example", 7, titled("mairies-7"), in("fr")))
	see := func() {
		t.Helper()
		w.shows(plain, "élection-5")
		w.shows(stemmed, "élections-6 élection-5 les-élections-3 élections-2")
		w.shows(late, "mairies-7")
		w.shows(broad, "mairies-7 élections-4 nothing")
	}
	see()
	w.flushed()
	w.kill()
	w.restart()
	w.publish(entry("P", "a.example", 8, titled("mairies-8"), in("fr")))
	w.shows(late, "mairies-8 mairies-7")
	if s := w.listed(); len(s) != 4 || s[0].Stem || !s[1].Stem {
		t.Errorf("%+v", s)
	}
}

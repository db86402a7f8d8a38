package fetch

import (
	"fmt"
	"testing"
	"time"
)

// dated is a document as it is at one fetch: what changes from one to the next is
// made from n.
type dated func(n int) string

func channel(items string) string {
	return `<rss version="2.0" xmlns:slash="http://purl.org/rss/1.0/modules/slash/" xmlns:media="http://search.yahoo.com/mrss/" ` +
		`xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>T</title>` + items + `</channel></rss>`
}

func entry(guid, more string) string {
	return fmt.Sprintf(`<item><guid isPermaLink="false">%[1]s</guid><link>https://a.example/%[1]s</link><title>Title %[1]s</title>%[2]s</item>`, guid, more)
}

// TestWhatIsNoNews fetches documents twice in which something changes that no
// reader cares for.
func TestWhatIsNoNews(t *testing.T) {
	for name, doc := range map[string]dated{
		"lastBuildDate": func(n int) string {
			return channel(fmt.Sprintf("<lastBuildDate>Fri, 02 Jan 2026 0%d:00:00 GMT</lastBuildDate>", n) + entry("a", ""))
		},
		"generator and ttl": func(n int) string {
			return channel(fmt.Sprintf("<generator>g%d</generator><ttl>%d</ttl>", n, n) + entry("a", ""))
		},
		"pubDate": func(n int) string {
			return channel(entry("a", fmt.Sprintf("<pubDate>Fri, 02 Jan 2026 0%d:00:00 GMT</pubDate>", n)))
		},
		"comments": func(n int) string { return channel(entry("a", fmt.Sprintf("<slash:comments>%d</slash:comments>", n))) },
		"views": func(n int) string {
			return channel(entry("a", fmt.Sprintf(`<media:community><media:starRating count="%[1]d"/><media:statistics views="%[1]d"/></media:community>`, n)))
		},
		"the order of all": func(n int) string {
			return channel(entry(fmt.Sprint(n%3), "") + entry(fmt.Sprint((n+1)%3), "") + entry(fmt.Sprint((n+2)%3), ""))
		},
		"the order of tags": func(n int) string {
			return channel(entry("a", fmt.Sprintf("<category>%d</category><category>%d</category><category>x</category>", n%2, (n+1)%2)))
		},
		"spaces in text": func(n int) string {
			return channel(entry("a", fmt.Sprintf("<description>Some %*s text</description>", 3*n, "")))
		},
		"a comment in HTML": func(n int) string {
			return channel(entry("a", fmt.Sprintf("<content:encoded>&lt;p&gt;Text&lt;!-- page made in %d ms --&gt;&lt;/p&gt;</content:encoded>", n)))
		},
		"a signed picture": func(n int) string {
			return channel(entry("a", fmt.Sprintf(`<content:encoded><![CDATA[<p>Text <img src="https://cdn.example/1.png?Expires=%d&amp;Signature=x" alt="A"></p>]]></content:encoded>`, n)))
		},
		"a signed enclosure": func(n int) string {
			return channel(entry("a", fmt.Sprintf(`<enclosure url="https://cdn.example/1.mp3?token=%d" type="audio/mpeg" length="%d"/>`, n, n)))
		},
		"a script": func(n int) string {
			return channel(entry("a", fmt.Sprintf(`<description>&lt;p&gt;Text&lt;script&gt;var nonce = %d&lt;/script&gt;&lt;/p&gt;</description>`, n)))
		},
		"updated alone": func(n int) string {
			return fmt.Sprintf(`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:thr="http://purl.org/syndication/thread/1.0"><title>T</title><id>f</id><updated>2026-01-02T0%[1]d:00:00Z</updated>`+
				`<entry><id>a</id><title>A</title><updated>2026-01-02T0%[1]d:00:00Z</updated><thr:total>%[1]d</thr:total><link rel="replies" href="https://a.example/r" thr:count="%[1]d"/></entry></feed>`, n)
		},
		"a time in JSON": func(n int) string {
			return fmt.Sprintf(`{"version":"https://jsonfeed.org/version/1.1","title":"T","_made":%[1]d,"items":[{"id":"a","title":"A","content_text":"x","date_modified":"2026-01-02T0%[1]d:00:00Z","_views":%[1]d}]}`, n)
		},
	} {
		found, state := Diff(State{URL: "u"}, parse(t, doc(1)), start)
		if len(found) == 0 {
			t.Errorf("%s: nothing there", name)
		}
		for n := 2; n < 5; n++ {
			if found, state = Diff(state, parse(t, doc(n)), start.Add(time.Duration(n)*time.Hour)); len(found) != 0 {
				t.Errorf("%s: %s is told again: %q", name, titles(found), found[0].ContentHTML)
				break
			}
		}
	}
}

// TestWhatIsAVersion fetches documents twice in which an entry changed: it is
// the same one, in a new version.
func TestWhatIsAVersion(t *testing.T) {
	for name, doc := range map[string]dated{
		"its text": func(n int) string {
			return channel(entry("a", fmt.Sprintf("<description>Some text %d</description>", n)))
		},
		"its tags": func(n int) string { return channel(entry("a", fmt.Sprintf("<category>%d</category>", n))) },
		"another picture": func(n int) string {
			return channel(entry("a", fmt.Sprintf(`<description><![CDATA[<p>A <img src="https://cdn.example/%d.png?x=1"></p>]]></description>`, n)))
		},
		"another enclosure": func(n int) string {
			return channel(entry("a", fmt.Sprintf(`<enclosure url="https://cdn.example/%d.mp3" type="audio/mpeg"/>`, n)))
		},
		"its link, by its guid": func(n int) string {
			return channel(fmt.Sprintf(`<item><guid isPermaLink="false">a</guid><link>https://a.example/%d</link><title>A</title></item>`, n))
		},
		"its title, by its link": func(n int) string {
			return channel(fmt.Sprintf(`<item><link>https://a.example/1</link><title>A %d</title></item>`, n))
		},
		"its date as well": func(n int) string {
			return channel(entry("a", fmt.Sprintf("<pubDate>Sat, 10 Jan 2026 1%[1]d:00:00 GMT</pubDate><description>Text %[1]d</description>", n)))
		},
	} {
		found, state := Diff(State{URL: "u"}, parse(t, doc(1)), start)
		if len(found) != 1 {
			t.Fatalf("%s: %d entries", name, len(found))
		}
		first := found[0]
		for n := 2; n < 5; n++ {
			found, state = Diff(state, parse(t, doc(n)), start.Add(time.Duration(n)*24*time.Hour))
			if len(found) != 1 || found[0].ID != first.ID || found[0].Version != uint32(n) {
				t.Errorf("%s: %s", name, titles(found))
				break
			}
			if found[0].Published.After(start) {
				t.Errorf("%s: published at %v, after it was first seen at %v", name, found[0].Published, start)
			}
		}
	}
}

// TestDatesThatLie: what has no date, or one that cannot be, is of when it was
// first seen, and stays so.
func TestDatesThatLie(t *testing.T) {
	for _, date := range []string{
		"", "<pubDate>soon</pubDate>", "<pubDate>Thu, 01 Jan 1970 00:00:00 GMT</pubDate>", "<pubDate>Mon, 30 Nov -0001 00:00:00 GMT</pubDate>",
		"<pubDate>Fri, 01 Jan 2100 00:00:00 GMT</pubDate>",
	} {
		doc := func(text string) string { return channel(entry("a", date+"<description>"+text+"</description>")) }
		found, state := Diff(State{URL: "u"}, parse(t, doc("one")), start)
		changed, _ := Diff(restarted(t, state), parse(t, doc("two")), start.Add(time.Hour))
		if len(found) != 1 || len(changed) != 1 {
			t.Fatalf("%s: %s, %s", date, titles(found), titles(changed))
		}
		if want := start.Truncate(time.Second); !found[0].Published.Equal(want) || !changed[0].Published.Equal(want) {
			t.Errorf("%s: %v, then %v", date, found[0].Published, changed[0].Published)
		}
	}
}

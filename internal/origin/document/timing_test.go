package document

import (
	"testing"
	"time"
)

func TestTiming(t *testing.T) {
	base := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		says string
		want Timing
	}{
		"nothing":          {"", Timing{}},
		"ttl":              {"<ttl> 90 </ttl>", Timing{TTL: 90 * time.Minute}},
		"ttl of nothing":   {"<ttl>0</ttl>", Timing{}},
		"ttl below it":     {"<ttl>-5</ttl>", Timing{}},
		"ttl of ages":      {"<ttl>99999999999999999999</ttl>", Timing{}},
		"hour 24":          {"<skipHours><hour>24</hour><hour>7</hour><hour>25</hour><hour>x</hour></skipHours>", Timing{SkipHours: [24]bool{0: true, 7: true}}},
		"days":             {"<skipDays><day>Sunday</day><day> saturday </day><day>Sometime</day></skipDays>", Timing{SkipDays: [7]bool{0: true, 6: true}}},
		"hourly":           {"<sy:updatePeriod>\n hourly\t</sy:updatePeriod><sy:updateFrequency> 1 </sy:updateFrequency>", Timing{Period: time.Hour}},
		"twice a day":      {"<sy:updatePeriod>Daily</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>", Timing{Period: day / 2}},
		"no frequency":     {"<sy:updatePeriod>weekly</sy:updatePeriod>", Timing{Period: 7 * day}},
		"frequency 0":      {"<sy:updatePeriod>monthly</sy:updatePeriod><sy:updateFrequency>0</sy:updateFrequency>", Timing{Period: 30 * day}},
		"huge frequency":   {"<sy:updatePeriod>yearly</sy:updatePeriod><sy:updateFrequency>99999999999</sy:updateFrequency>", Timing{Period: 365 * day}},
		"a strange period": {"<sy:updatePeriod>often</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>", Timing{}},
		"frequency alone":  {"<sy:updateFrequency>2</sy:updateFrequency><sy:updateBase>2000-01-01T12:00+00:00</sy:updateBase>", Timing{}},
		"base":             {"<sy:updatePeriod>daily</sy:updatePeriod><sy:updateBase>2000-01-01T12:00+00:00</sy:updateBase>", Timing{Period: day, Base: base}},
		"base elsewhere":   {"<sy:updatePeriod>daily</sy:updatePeriod><sy:updateBase>2000-01-01T14:00:00+02:00</sy:updateBase>", Timing{Period: day, Base: base}},
		"base of nothing":  {"<sy:updatePeriod>daily</sy:updatePeriod><sy:updateBase>noon</sy:updateBase>", Timing{Period: day}},
	} {
		doc := parse(t, `<rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel><title>T</title>`+c.says+
			`<item><title>A</title><link>https://a.example/1</link></item></channel></rss>`)
		if doc.Timing != c.want {
			t.Errorf("%s: %+v, want %+v", name, doc.Timing, c.want)
		}
	}
}

func TestTimingOfOtherFormats(t *testing.T) {
	const says = `xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"`
	for name, body := range map[string]string{
		"Atom": `<feed xmlns="http://www.w3.org/2005/Atom" ` + says + `><title>T</title><sy:updatePeriod>daily</sy:updatePeriod>` +
			`<entry><title>A</title><id>a</id></entry></feed>`,
		"RSS 1.0": `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" ` + says +
			`><channel rdf:about="x"><title>T</title><sy:updatePeriod>daily</sy:updatePeriod></channel>` +
			`<item rdf:about="https://a.example/1"><title>A</title><link>https://a.example/1</link></item></rdf:RDF>`,
		"another prefix": `<rss version="2.0" xmlns:when="http://purl.org/rss/1.0/modules/syndication/"><channel><title>T</title>` +
			`<when:updatePeriod>daily</when:updatePeriod><item><title>A</title></item></channel></rss>`,
	} {
		if doc := parse(t, body); doc.Period != 24*time.Hour {
			t.Errorf("%s: %+v", name, doc.Timing)
		}
	}
}

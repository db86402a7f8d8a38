package survey

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/sim/experiment/smallweb"
)

// rss is a feed with these entries: number, words, and minutes of its date.
func rss(entries ...string) string {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>A diary</title>`)
	for _, e := range entries {
		number, text, _ := strings.Cut(e, " ")
		fmt.Fprintf(&b, `<item><guid isPermaLink="false">%s</guid><title>Day %s</title><description>%s</description><pubDate>Mon, 05 Jan 2026 1%s:00:00 GMT</pubDate></item>`, number, number, text, number)
	}
	b.WriteString(`</channel></rss>`)
	return b.String()
}

func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestDocumentsWithinTheReadersLimits: a document of a directory is read with the
// limits of the product's reader, and what it refuses does not stop the survey.
func TestDocumentsWithinTheReadersLimits(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{
		"a.xml":     rss("1 rain at noon", "2 wind and rain"),
		"page.html": "<!DOCTYPE html><html><body>no feed</body></html>",
		"deep.xml":  `<rss version="2.0"><channel>` + strings.Repeat("<a>", 200) + strings.Repeat("</a>", 200) + `</channel></rss>`,
		"large.xml": rss("1 " + strings.Repeat("word ", decode.MaxBody/5)),
		"text.xml":  rss("1 " + strings.Repeat("word ", 400_000)),
		".hidden":   "nothing",
	})
	docs, refused, err := Documents(dir, nil)
	if err != nil || len(docs) != 1 || len(refused) != 4 {
		t.Fatalf("%d documents, refused %v, %v", len(docs), refused, err)
	}
	for _, f := range refused {
		want := map[string]string{"page.html": "HTML page", "deep.xml": "nests more than 64", "large.xml": "larger than 8 MiB", "text.xml": "longer than"}[f.Name]
		if want == "" || !strings.Contains(f.Reason, want) || strings.Contains(f.Reason, "\n") {
			t.Errorf("%+v, want %q", f, want)
		}
	}
	d := docs[0]
	if len(d.Articles) != 2 || d.Articles[0].Words != len(strings.Fields("day 1 rain at noon")) || d.Entry == 0 || d.Packed == 0 {
		t.Errorf("%+v", d)
	}
	if rate := d.rate(); rate != 24 {
		t.Errorf("two entries an hour apart are %v a day", rate)
	}
}

// endless gives spaces, and an error where more is read than the product takes.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n += len(p); e.n > 2*decode.MaxBody {
		return 0, errors.New("read on")
	}
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestNoMoreIsReadThanTheProductTakes(t *testing.T) {
	var refusal *failure.Error
	if body, err := readBody(&endless{}); !errors.As(err, &refusal) || refusal.Kind != failure.KindTooLarge {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

func TestListsOfDocuments(t *testing.T) {
	files := map[string]string{"a.xml": rss("1 one"), "b.xml": rss("1 one"), "list.csv": "file,entries\na.xml,1\n"}
	dir := write(t, t.TempDir(), files)
	if docs, _, err := Documents(filepath.Join(dir, "list.csv"), nil); err != nil || len(docs) != 1 {
		t.Errorf("%d documents, %v", len(docs), err)
	}
	write(t, dir, map[string]string{manifestName: "file\nb.xml\n"})
	if docs, _, err := Documents(dir, nil); err != nil || len(docs) != 1 {
		t.Errorf("%d documents by the directory's own list, %v", len(docs), err)
	}
	for list, want := range map[string]string{
		"":                    "it is empty",
		"name\na.xml\n":       "no column file",
		"file\n":              "no document is in it",
		"file\nmissing.xml\n": "missing.xml",
		"file\n../a.xml\n":    "line 2: ../a.xml is not beside it",
		"file\n.\n":           ".: it is no regular file",
		"file\nlist.csv\n":    "none of 1 documents can be read as a feed",
	} {
		write(t, dir, map[string]string{"list.csv": list})
		if _, _, err := Documents(filepath.Join(dir, "list.csv"), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
	}
	if _, _, err := Documents(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "no document is in it") {
		t.Error(err)
	}
	outside := write(t, t.TempDir(), files)
	if err := os.Symlink(filepath.Join(outside, "a.xml"), filepath.Join(dir, "link.xml")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"list.csv": "file\nlink.xml\n"})
	if docs, _, err := Documents(filepath.Join(dir, "list.csv"), nil); err == nil {
		t.Errorf("a link out of the directory was followed: %+v", docs)
	}
}

const captured = `feed,first_seen,last_seen,title
a,2026-01-05T00:00:00Z,2026-01-05T12:00:00Z,there before
a,2026-01-05T06:00:00Z,2026-01-05T18:00:00Z,"one, new"
a,2026-01-05T18:00:00Z,2026-01-07T00:00:00Z,another
still,2026-01-05T00:00:00Z,2026-01-07T00:00:00Z,there before
`

func TestCapturesTellRatesAndWindows(t *testing.T) {
	feeds, err := Captures(strings.NewReader(captured))
	if err != nil || len(feeds) != 2 {
		t.Fatal(feeds, err)
	}
	if rate := feeds[0].rate(); rate != 1 {
		t.Errorf("two new entries in two days are %v a day", rate)
	}
	// At 0 h one entry, at 6 and 12 h two, at 18 h two, at the end one.
	if least, most, mean := feeds[0].counts(); least != 1 || most != 2 || mean != 8.0/5 {
		t.Errorf("%d, %d, %v entries", least, most, mean)
	}
	if rate := feeds[1].rate(); rate != 0 {
		t.Errorf("a silent feed has %v a day", rate)
	}
}

// TestCapturesThatCannotBe: what goes back in time or is no list of captures is
// refused with its line.
func TestCapturesThatCannotBe(t *testing.T) {
	const head = "feed,first_seen,last_seen\n"
	for text, want := range map[string]string{
		"":                     "it is empty",
		"feed,title\na,b\n":    "no column first_seen",
		head:                   "no entry is in it",
		head + "a,today,now\n": "line 2: today and now: give times",
		head + "a,2026-01-05T06:00:00Z,2026-01-05T05:00:00Z\n":                                              "line 2: captures of a go back in time: last_seen",
		head + "a,2026-01-05T06:00:00Z,2026-01-05T07:00:00Z\na,2026-01-05T05:00:00Z,2026-01-05T07:00:00Z\n": "line 3: captures of a go back in time: first_seen",
		head + "a,\"2026\n": "quote",
	} {
		if _, err := Captures(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestListsHaveABound(t *testing.T) {
	none := func([]string) error { return nil }
	if err := columns(strings.NewReader("file\na.xml\n"), 5, []string{"file"}, none); err == nil || !strings.Contains(err.Error(), "more than 0 MiB") {
		t.Error(err)
	}
	if err := columns(strings.NewReader("file\na.xml\n"), 11, []string{"file"}, none); err != nil {
		t.Error(err)
	}
}

// TestSilentFeedsGiveNoFigures: where nothing was published there is no rate, no
// exponent and no lifetime, and the result can be written.
func TestSilentFeedsGiveNoFigures(t *testing.T) {
	feeds, err := Captures(strings.NewReader("feed,first_seen,last_seen\na,2026-01-05T00:00:00Z,2026-03-05T00:00:00Z\nb,2026-01-05T00:00:00Z,2026-01-05T00:00:00Z\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Study(Config{Captured: feeds, Documents: []Document{{Bytes: 9}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	for _, l := range r.Lines {
		switch l.What {
		case "feeds silent throughout":
			if l.Captured == nil || *l.Captured != 1 {
				t.Errorf("%+v", l)
			}
		case "exponent, all ranks", "lifetime in hours, median (drawn)", "day of the weekend ÷ weekday", "entries in the busiest 8 hours (drawn)":
			if l.Captured != nil || l.Documents != nil {
				t.Errorf("%+v", l)
			}
		}
	}
}

// snapshot is one file of a stream.
type snapshot struct{ name, text string }

func stream(t *testing.T, files ...snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.text)), Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func at(hour int) string { return fmt.Sprintf("diary/2026-01-06T%02d0000Z.xml", hour) }

// TestLadderCountsWhatEachRungPasses: a document of the same bytes passes nothing, a
// new entry passes every rung, a changed one not the rung of new ones.
func TestLadderCountsWhatEachRungPasses(t *testing.T) {
	one, two, three := rss("1 rain"), rss("2 sun", "1 rain"), rss("2 sun and wind", "1 rain")
	of := func(files ...snapshot) Ladder {
		t.Helper()
		r, err := Study(Config{Snapshots: bytes.NewReader(stream(t, files...))}, nil)
		if err != nil || len(r.Ladders) != 1 {
			t.Fatal(r, err)
		}
		return r.Ladders[0]
	}
	if l := of(snapshot{at(0), one}); l.Looks != 0 || l.Bytes != [rungs]int64{} {
		t.Errorf("the first document counts: %+v", l)
	}
	same := of(snapshot{at(0), one}, snapshot{at(1), one})
	if same.Bytes != [rungs]int64{Whole: int64(len(one))} {
		t.Errorf("the same bytes: %+v", same)
	}
	news := of(snapshot{at(0), one}, snapshot{at(1), one}, snapshot{at(2), two})
	whole := int64(len(two))
	if news.Looks != 2 || news.Bytes[Whole] != whole+int64(len(one)) || news.Bytes[NotChanged] != whole || news.Bytes[Hashed] != whole {
		t.Errorf("a new entry: %+v", news)
	}
	if news.Bytes[New] == 0 || news.Bytes[New] != news.Bytes[Changed] || news.Bytes[Packed] != news.Bytes[PackedNew] || news.Bytes[Packed] < 64 || news.Bytes[New] >= whole {
		t.Errorf("a new entry: %+v", news)
	}
	both := of(snapshot{at(0), one}, snapshot{at(1), one}, snapshot{at(2), two}, snapshot{at(3), three})
	if both.Bytes[New] != news.Bytes[New] || both.Bytes[PackedNew] != news.Bytes[PackedNew] || both.Bytes[Changed] <= news.Bytes[Changed] || both.Bytes[Packed] <= news.Bytes[Packed] {
		t.Errorf("a changed entry: %+v after %+v", both, news)
	}
	// Only the date of the document is another: no entry changed.
	built := strings.Replace(one, "<title>A diary", "<lastBuildDate>Tue, 06 Jan 2026 01:00:00 GMT</lastBuildDate><title>A diary", 1)
	if l := of(snapshot{at(0), one}, snapshot{at(1), built}); l.Bytes != [rungs]int64{Whole: int64(len(built)), NotChanged: int64(len(built)), Hashed: int64(len(built))} {
		t.Errorf("a document built anew: %+v", l)
	}
}

// TestHostileDocumentsInAStream: what the reader refuses is counted and named, and
// the documents around it count as they would without it.
func TestHostileDocumentsInAStream(t *testing.T) {
	files := []snapshot{{at(0), rss("1 rain")}, {at(1), rss("2 sun", "1 rain")}}
	r, err := Study(Config{Snapshots: bytes.NewReader(stream(t, files...))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := r.Ladders[0]
	bomb := `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">` + strings.Repeat(`<!ENTITY b "&a;&a;&a;">`, 20) + `]><rss version="2.0"><channel><title>&b;` + strings.Repeat("<x>", 500)
	hostile := []snapshot{files[0],
		{"diary/2026-01-06T000100Z.xml", "\x00\x01\x02"}, {"diary/2026-01-06T000200Z.xml", ""}, {"diary/2026-01-06T000300Z.xml", bomb},
		{"diary/2026-01-06T000400Z.xml", strings.Repeat(" ", decode.MaxBody+1)}, files[1]}
	r, err = Study(Config{Snapshots: bytes.NewReader(stream(t, hostile...))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if reason := r.Refused[3].Reason; reason != "the document is larger than 8 MiB" {
		t.Error(reason)
	}
	if got := r.Ladders[0]; got.Refused != 4 || got.Bytes != want.Bytes || r.RefusedCount != 4 || len(r.Refused) != 4 {
		t.Errorf("%+v, want the bytes of %+v; %v", got, want, r.Refused)
	}
}

func TestStreamsThatCannotBe(t *testing.T) {
	good := snapshot{at(1), rss("1 rain")}
	whole := stream(t, good, snapshot{at(2), rss("2 sun")})
	many := make([]snapshot, mostFeeds+1)
	for i := range many {
		many[i] = snapshot{fmt.Sprintf("%d/2026-01-06T000000Z.xml", i), rss("1 rain")}
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(whole)
	_ = z.Close()
	for name, x := range map[string]struct {
		in   []byte
		want string
	}{
		"nothing":           {nil, "no document is in it: give a tar stream"},
		"no files":          {stream(t), "no document is in it: give a tar stream"},
		"still compressed":  {zipped.Bytes(), "give a tar stream"},
		"cut":               {whole[:700], "unexpected EOF: give a tar stream"},
		"out of order":      {stream(t, good, snapshot{at(0), rss("2 sun")}), "documents out of order: " + at(0) + " is not later than " + at(1) + ": give them in time order"},
		"one time twice":    {stream(t, good, good), "documents out of order"},
		"no time":           {stream(t, snapshot{"diary/today.xml", rss("1 rain")}), "diary/today.xml tells no feed and time"},
		"no feed":           {stream(t, snapshot{"2026-01-06T000000Z.xml", rss("1 rain")}), "tells no feed and time"},
		"another directory": {stream(t, snapshot{"../diary/2026-01-06T000000Z.xml", rss("1 rain")}), "tells no feed and time"},
		"nothing readable":  {stream(t, snapshot{at(0), "<html></html>"}), "none of 1 documents can be read as a feed"},
		"too many feeds":    {stream(t, many...), "one more feed than 128"},
		"zeros behind it":   {append(bytes.Clone(whole), make([]byte, mostPadding+1)...), "zero bytes are behind an archive"},
		"refuse behind it":  {append(bytes.Clone(whole), "something else"...), "give a tar stream"},
	} {
		if _, err := Study(Config{Snapshots: bytes.NewReader(x.in)}, nil); err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}

// TestSeveralArchivesInARow: xz -dc of several files is one stream.
func TestSeveralArchivesInARow(t *testing.T) {
	in := append(stream(t, snapshot{at(0), rss("1 rain")}), stream(t, snapshot{"other/2026-01-01T000000Z.xml", rss("1 snow")})...)
	r, err := Study(Config{Snapshots: bytes.NewReader(in)}, nil)
	if err != nil || len(r.Ladders) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestPersonalSitesAreTheDumbOnes counts a site's looks one by one.
func TestPersonalSitesAreTheDumbOnes(t *testing.T) {
	cfg := smallweb.Default()
	for i := range 2000 {
		cfg.Sites = append(cfg.Sites, fmt.Sprint(i))
	}
	for h := range cfg.Rhythm {
		cfg.Rhythm[h] = 1
	}
	docs := []Document{{Bytes: 5000, Articles: make([]Article, 1), Entry: 700, Packed: 250}}
	got := personalSites(cfg, docs)
	cfg.Sizes = []smallweb.Size{{Bytes: 5000, Entries: 1}}
	sites, whole := smallweb.Publish(cfg)
	from, to := smallweb.Day()
	var want Ladder
	for i, s := range sites {
		for begin := from; begin.Before(to); begin = begin.Add(crawl) {
			n := int64(0)
			for _, p := range s.Published {
				if !p.Before(begin) && p.Before(begin.Add(crawl)) {
					n++
				}
			}
			want.Looks++
			want.Bytes[Whole] += 5000
			if n > 0 || whole[i] {
				want.Bytes[NotChanged] += 5000
			}
			if n > 0 {
				want.Bytes[Hashed] += 5000
			}
			want.Bytes[Changed] += min(n, 1) * 700
			want.Bytes[Packed] += min(n, 1) * 250
		}
	}
	want.Bytes[New], want.Bytes[PackedNew] = want.Bytes[Changed], want.Bytes[Packed]
	if got.Looks != want.Looks || got.Bytes != want.Bytes || want.Bytes[Hashed] == 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if l := personalSites(cfg, []Document{{Bytes: 100}}); l != nil {
		t.Errorf("documents without entries gave %+v", l)
	}
}

func TestExponentOfAPowerLaw(t *testing.T) {
	var rates []float64
	for rank := 1; rank <= 220; rank++ {
		rate := 500 * math.Pow(float64(rank), -1.25)
		if rank < 30 || rank > 200 {
			rate = 3 // of which the middle ranks know nothing
		}
		rates = append(rates, rate)
	}
	if b := exponent(rates, 30, 200); b == nil || math.Abs(*b-1.25) > 1e-9 {
		t.Errorf("%v", b)
	}
	if b := exponent(rates[:33], 30, 200); b != nil {
		t.Errorf("an exponent of four ranks: %v", *b)
	}
	if q := quantile([]float64{3, 1, 2, 4}, 0.5); *q != 2 || *quantile([]float64{3, 1}, 0) != 1 || *quantile([]float64{3, 1}, 0.9) != 3 {
		t.Errorf("%v", *q)
	}
}

const shared = "../../../../../shared/feeds/"

// TestRealFeedsAreSurveyed: packed answers save 99 % of what a captured feed's
// documents take, and the captured front page is found as its figures say.
func TestRealFeedsAreSurveyed(t *testing.T) {
	archive, items := shared+"timeseries/snapshots_feed_openai_research.tar.xz", shared+"timeseries/bbc_items.csv.gz"
	for _, file := range []string{archive, items} {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			t.Skip("captured feeds are not here:", file)
		}
	}
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("no xz to unpack them")
	}
	unpacked, err := exec.Command("xz", "-dc", archive).Output()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(items)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	feeds, err := Captures(z)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Study(Config{Captured: feeds, Snapshots: bytes.NewReader(unpacked)}, nil)
	if err != nil || len(r.Ladders) != 1 {
		t.Fatal(r, err)
	}
	l := &r.Ladders[0]
	packed, _ := l.Saved(Packed)
	if l.Looks != 77 || l.Refused != 0 || packed < 0.99 {
		t.Errorf("%+v: packed answers save %v", l, packed)
	}
	for _, line := range r.Lines {
		if line.What == "lifetime in hours, median (drawn)" && (line.Captured == nil || math.Abs(*line.Captured-9.9) > 0.1) {
			t.Errorf("an entry lives %v h", line.Captured)
		}
	}
}

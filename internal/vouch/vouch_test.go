package vouch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/safehttp"
)

const (
	alice = feedring.PeerID("12D3KooWAnnAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	bob   = feedring.PeerID("12D3KooWBobBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB")
)

func TestParseDocument(t *testing.T) {
	d, err := ParseDocument([]byte(`{"peers":["` + string(alice) + `"],"addresses":["/dns4/a.example/tcp/7377/p2p/` + string(alice) +
		`"],"feeds":["HTTPS://A.example#x"],"more":{"later":1}}`))
	want := Document{Network: "main", Peers: []feedring.PeerID{alice}, Feeds: []string{"https://a.example/"},
		Addresses: []string{"/dns4/a.example/tcp/7377/p2p/" + string(alice)}}
	if err != nil || !reflect.DeepEqual(d, want) {
		t.Fatalf("%+v, %v", d, err)
	}
	b, err := d.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseDocument(b); err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestBadDocuments(t *testing.T) {
	many := func(one string, n int) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	peer := `"` + string(alice) + `"`
	for name, body := range map[string]string{
		"nothing":            ``,
		"HTML":               `<html>`,
		"no peers":           `{"network":"main"}`,
		"two objects":        `{"peers":[` + peer + `]} {}`,
		"a wrong peer":       `{"peers":["12D3KooW"]}`,
		"a peer with O":      `{"peers":["` + strings.Repeat("O", 52) + `"]}`,
		"too many peers":     `{"peers":[` + many(peer, MaxPeers+1) + `]}`,
		"a wrong address":    `{"peers":[` + peer + `],"addresses":["1.2.3.4:7377"]}`,
		"many addresses":     `{"peers":[` + peer + `],"addresses":[` + many(`"/a"`, MaxAddresses+1) + `]}`,
		"a wrong feed":       `{"peers":[` + peer + `],"feeds":["ftp://a.example/"]}`,
		"too many feeds":     `{"peers":[` + peer + `],"feeds":[` + many(`"http://a.example/"`, MaxFeeds+1) + `]}`,
		"a network in two":   `{"network":"a b","peers":[` + peer + `]}`,
		"a quoted network":   `{"network":"a\"","peers":[` + peer + `]}`,
		"a document too big": `{"peers":[` + peer + `]}` + strings.Repeat(" ", MaxDocument),
	} {
		if d, err := ParseDocument([]byte(body)); err == nil {
			t.Errorf("%s: read as %+v", name, d)
		} else if strings.Contains(err.Error(), "\n") || len(err.Error()) > 200 {
			t.Errorf("%s: %q", name, err)
		}
	}
}

func TestParseTXT(t *testing.T) {
	for name, c := range map[string]struct {
		records []string
		want    Document
		bad     bool
	}{
		"one": {[]string{"network=main peer=" + string(alice) + " feed=https://a.example/f later=1"},
			Document{Network: "main", Peers: []feedring.PeerID{alice}, Feeds: []string{"https://a.example/f"}}, false},
		"two add up": {[]string{"peer=" + string(alice), "v=spf1 -all", "peer=" + string(bob)},
			Document{Network: "main", Peers: []feedring.PeerID{alice, bob}}, false},
		"another network": {[]string{"network=test peer=" + string(bob), "network=main peer=" + string(alice)},
			Document{Network: "main", Peers: []feedring.PeerID{alice}}, false},
		"nothing":      {nil, Document{}, true},
		"a wrong peer": {[]string{"peer=me"}, Document{}, true},
		"a wrong feed": {[]string{"peer=" + string(alice) + " feed=x"}, Document{}, true},
	} {
		d, err := ParseTXT(c.records, "main")
		if (err != nil) != c.bad || !reflect.DeepEqual(d, c.want) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

func FuzzParseDocument(f *testing.F) {
	f.Add([]byte(`{"network":"main","peers":["` + string(alice) + `"],"addresses":["/x"],"feeds":["https://a.example/"]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseDocument(b)
		if err != nil {
			return
		}
		out, err := d.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseDocument(out); len(out) <= MaxDocument && (err != nil || again.Network != d.Network || len(again.Feeds) != len(d.Feeds)) {
			t.Fatalf("%+v became %+v, %v", d, again, err)
		}
	})
}

func FuzzParseTXT(f *testing.F) {
	f.Add("network=main peer="+string(alice), "feed=https://a.example/")
	f.Fuzz(func(t *testing.T, one, two string) {
		d, err := ParseTXT([]string{one, two}, "main")
		if err != nil {
			return
		}
		if again, err := ParseTXT([]string{d.txt()}, "main"); err != nil && len(d.Peers) > 0 || !reflect.DeepEqual(again.Peers, d.Peers) {
			t.Fatalf("%+v became %+v, %v", d, again, err)
		}
	})
}

// FuzzParseDNSAddr: what is taken is taken again, and within the limits.
func FuzzParseDNSAddr(f *testing.F) {
	f.Add("dnsaddr=/ip4/192.0.2.1/tcp/1/p2p/"+string(alice), " dnsaddr=/dns4/a.example/udp/1/quic-v1 ")
	f.Add("dnsaddr=/x\x00", "dnsaddr=ip4")
	f.Fuzz(func(t *testing.T, one, two string) {
		addrs := parseDNSAddr([]string{one, two, one})
		var records []string
		for _, a := range addrs {
			if !strings.HasPrefix(a, "/") || len(a) > maxAddress || !printable(a) {
				t.Fatalf("%q was taken", a)
			}
			records = append(records, "dnsaddr="+a)
		}
		if again := parseDNSAddr(records); len(addrs) > 2 || !slices.Equal(again, addrs) {
			t.Fatalf("%q became %q", addrs, again)
		}
	})
}

func TestSites(t *testing.T) {
	for feed, want := range map[string][]string{
		"https://www.lemonde.fr/rss/une.xml": {"lemonde.fr", "www.lemonde.fr"},
		"https://feeds.bbci.co.uk/news/rss":  {"feeds.bbci.co.uk", "bbci.co.uk"},
		"https://Example.org:443/f":          {"example.org"},
		"https://example.org:8443/f":         {"example.org:8443", "example.org"},
		"https://someone.github.io/feed":     {"someone.github.io"},
		"http://127.0.0.1:8080/feed":         {"127.0.0.1:8080"},
		"http://[::1]:8080/feed":             {"[::1]:8080"},
		"http://[2606:4700::1]/feed":         nil, // somebody else has it next month
		"http://93.184.216.34:8080/feed":     nil,
		"http://192.168.1.7/feed":            {"192.168.1.7"},
		"http://localhost/feed":              {"localhost"},
		"https://www.blog.example.org./f":    {"blog.example.org", "www.blog.example.org", "example.org"},
		"ftp://example.org/":                 nil,
		"nonsense":                           nil,
	} {
		if got := SitesOf(feed); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", feed, got, want)
		}
	}
}

// names is a Resolver of a fixed table.
type names map[string][]string

func (n names) LookupTXT(_ context.Context, name string) ([]string, error) {
	if records, ok := n[name]; ok {
		return records, nil
	}
	if strings.Contains(name, "broken") {
		return nil, errors.New("server misbehaving")
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (n names) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
}

// site starts a site that answers the document's path with h, and returns its
// name and that of a feed on it.
func site(t *testing.T, h http.HandlerFunc) (name, feed string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc(wellKnownPath, h)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), s.URL + "/feed"
}

func checker(n names) Checker {
	client, err := safehttp.New(safehttp.Config{AllowPrivate: true})
	if err != nil {
		panic(err)
	}
	return Checker{Client: client, Resolver: n, Network: "main"}
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
}

func TestCheckWellKnown(t *testing.T) {
	peers := `"peers":["` + string(alice) + `"]`
	for name, c := range map[string]struct {
		h     http.HandlerFunc
		named bool
		fails bool
		text  string
	}{
		"named":           {says(`{` + peers + `}`), true, false, ""},
		"another peer":    {says(`{"peers":["` + string(bob) + `"]}`), false, false, "names other peers"},
		"another network": {says(`{"network":"test",` + peers + `}`), false, false, `network "test"`},
		"other feeds":     {says(`{"feeds":["https://a.example/"],` + peers + `}`), false, false, "other feeds"},
		"not JSON":        {says(`<html>`), false, false, "not the JSON"},
		"too big":         {says(`{` + peers + `}` + strings.Repeat(" ", MaxDocument)), false, false, "more than 65536 bytes"},
		"absent":          {http.NotFound, false, false, "404"},
		"redirected":      {http.RedirectHandler("/elsewhere", http.StatusFound).ServeHTTP, false, false, "redirects elsewhere"},
		"broken":          {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, false, true, "500"},
	} {
		s, feed := site(t, c.h)
		v, err := checker(nil).Check(t.Context(), s, alice, []string{feed})
		if v.Named != c.named || (err != nil) != c.fails || v.Site != s {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
		if c.named && (v.By != WellKnown || !reflect.DeepEqual(v.Feeds, []string{feed}) || v.Detail != "") {
			t.Errorf("%s: %+v", name, v)
		}
		if text := v.Detail; err == nil && !strings.Contains(text, c.text) || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %q, %v does not say %q", name, text, err, c.text)
		}
	}
}

func TestFeedsOfOtherSitesDoNotCount(t *testing.T) {
	s, feed := site(t, says(`{"peers":["`+string(alice)+`"]}`))
	v, err := checker(nil).Check(t.Context(), s, alice, []string{"https://victim.example/feed"})
	if err != nil || v.Named {
		t.Errorf("%+v, %v", v, err)
	}
	v, err = checker(nil).Check(t.Context(), s, alice, []string{"https://victim.example/feed", feed})
	if err != nil || !reflect.DeepEqual(v.Feeds, []string{feed}) {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestPlainHTTPOnlyAtPrivateAddresses(t *testing.T) {
	client, err := safehttp.New(safehttp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	strict := Checker{Client: client, Resolver: names{}, Network: "main"}
	s, feed := site(t, func(http.ResponseWriter, *http.Request) { t.Error("asked by plain http") })
	if v, err := strict.Check(t.Context(), s, alice, []string{feed}); v.Named || !errors.Is(err, safehttp.ErrPrivate) {
		t.Errorf("%+v, %v", v, err)
	}
	if checker(nil).mayBePlain(t.Context(), "8.8.8.8") || !checker(nil).mayBePlain(t.Context(), "10.0.0.1:8080") {
		t.Error("wrong about addresses")
	}
	if !checker(nil).mayBePlain(t.Context(), "site.test") || strict.mayBePlain(t.Context(), "localhost") {
		t.Error("wrong about names")
	}
}

func TestCheckDNS(t *testing.T) {
	n := names{"_feedring.lemonde.invalid": {"network=main peer=" + string(alice)}}
	c := checker(n)
	v := Verdict{}
	d, err := c.dns(t.Context(), "lemonde.invalid")
	if err != nil || !c.judge(&v, d, alice, nil) {
		t.Errorf("%+v, %v", d, err)
	}
	var no *noDocument
	if _, err := c.dns(t.Context(), "other.invalid"); !errors.As(err, &no) {
		t.Errorf("absent: %v", err)
	}
	if _, err := c.dns(t.Context(), "broken.invalid"); err == nil || errors.As(err, &no) {
		t.Errorf("broken: %v", err)
	}
	if _, err := c.dns(t.Context(), "127.0.0.1:80"); !errors.As(err, &no) {
		t.Errorf("an address: %v", err)
	}
}

func TestCheckFeed(t *testing.T) {
	s, feed := site(t, says(`{"peers":["`+string(alice)+`"]}`))
	for link, want := range map[string]bool{
		"feedring:" + string(alice): true, "feedring:" + string(bob): false, "feedring:": false, "": false,
		wellKnownPath: true, "http://" + s + wellKnownPath: true, "https://evil.example" + wellKnownPath: false, "/absent": false, "::": false,
	} {
		v, err := checker(nil).CheckFeed(t.Context(), feed, link, alice)
		if err != nil || v.Named != want || v.Named != (v.By == InFeed) || v.Named == (v.Detail != "") {
			t.Errorf("%q: %+v, %v", link, v, err)
		}
	}
}

func TestFetch(t *testing.T) {
	addr := "/ip4/127.0.0.1/tcp/7377/p2p/" + string(alice)
	s, _ := site(t, says(`{"peers":["`+string(alice)+`"],"addresses":["`+addr+`"]}`))
	d, err := checker(nil).Fetch(t.Context(), s)
	if err != nil || !reflect.DeepEqual(d.Addresses, []string{addr}) {
		t.Errorf("%+v, %v", d, err)
	}
	other, _ := site(t, says(`{"network":"test","peers":["`+string(alice)+`"]}`))
	if _, err := checker(nil).Fetch(t.Context(), other); !errors.As(err, new(*NetworkError)) {
		t.Errorf("%v", err)
	}
	if _, err := checker(nil).Fetch(t.Context(), "a/b"); err == nil {
		t.Error("no domain, and no error")
	}
	absent, _ := site(t, http.NotFound)
	if _, err := checker(nil).Fetch(t.Context(), absent); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("%v", err)
	}
	got := parseDNSAddr([]string{"dnsaddr=" + addr, "v=spf1", "dnsaddr=x", "dnsaddr=" + addr})
	if !reflect.DeepEqual(got, []string{addr}) || !reflect.DeepEqual(peersOf(got), []feedring.PeerID{alice}) {
		t.Errorf("%q", got)
	}
}

func TestInstructions(t *testing.T) {
	d := Document{Network: "main", Peers: []feedring.PeerID{alice}}
	for i := range 20 {
		d.Feeds = append(d.Feeds, "https://a.example/feeds/"+strings.Repeat("x", i))
	}
	text, err := Instructions(d, "a.example", true)
	if err != nil {
		t.Fatal(err)
	}
	file, _, _ := strings.Cut(text, "\n2.")
	start, end := strings.Index(file, "{"), strings.LastIndex(file, "}")
	if got, err := ParseDocument([]byte(text[start : end+1])); err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("the document to paste: %+v, %v", got, err)
	}
	_, record, _ := strings.Cut(text, "_feedring.a.example. 3600 IN TXT \"")
	record, _, _ = strings.Cut(record, "\"\n")
	for part := range strings.SplitSeq(record, `" "`) {
		if len(part) > 255 {
			t.Errorf("a string of %d bytes", len(part))
		}
	}
	if got, err := ParseTXT([]string{strings.ReplaceAll(record, `" "`, "")}, "main"); err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("the record to paste: %+v, %v", got, err)
	}
	for _, want := range []string{"https://a.example/.well-known/feedring", `<link rel="feedring" href="feedring:` + string(alice), "xmlns:atom", `"_feedring": {`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if _, err := Instructions(Document{}, "a.example", true); err == nil {
		t.Error("instructions for nothing")
	}
}

// TestInstructionsForAnAddress: no name in the DNS is below an IP address.
func TestInstructionsForAnAddress(t *testing.T) {
	for _, site := range []string{"127.0.0.1", "127.0.0.1:8080", "[2001:db8::1]"} {
		text, err := Instructions(Document{Network: "main", Peers: []feedring.PeerID{alice}}, site, true)
		if err != nil || strings.Contains(text, "DNS") || !strings.Contains(text, "one of two places") || !strings.Contains(text, "\n2. A line in each feed") {
			t.Errorf("%s: %v\n%s", site, err, text)
		}
	}
}

// TestInstructionsWithoutTheFeed: where a feed's word does not count, nobody is told to
// write it.
func TestInstructionsWithoutTheFeed(t *testing.T) {
	for site, begins := range map[string]string{
		"a.example": "a.example names its peer in one of two places; the first is the best.\n\n1. A file at https://a.example/",
		"127.0.0.1": "127.0.0.1 names its peer in one place.\n\nA file at http://127.0.0.1/.well-known/feedring", // as it is asked
	} {
		text, err := Instructions(Document{Network: "x-a", Peers: []feedring.PeerID{alice}}, site, false)
		if err != nil || strings.Contains(text, "rel=") || strings.Contains(text, "n each feed") || !strings.HasPrefix(text, begins) {
			t.Errorf("%s: %v\n%s", site, err, text)
		}
	}
}

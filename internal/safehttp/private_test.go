package safehttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// spellings are hosts that are, or may be taken for, addresses that are not of
// the public internet.
var spellings = []string{
	// Loopback, by numbers.
	"127.0.0.1", "127.0.0.2", "127.255.255.254", "127.1", "127.0.1", "127.0.0.1.", "127.000.000.001", "0127.0.0.1",
	"2130706433", "0x7f000001", "0X7F.0.0.1", "0x7f.1", "0x7f.0x0.0x0.0x1", "017700000001", "0177.0.0.1", "0177.1", "0x7f.0.1", "127.0x1",
	"00000000000000000000177.0.0.1", "4294967297", "127.0.0.1.0",
	// Loopback, by names.
	"localhost", "LocalHost", "localhost.", "foo.localhost", "a.b.localhost.",
	// This host and this network.
	"0", "0.0.0.0", "0.1.2.3", "00", "0x0", "0.0",
	// Private, shared, link-local, and what a cloud tells of itself.
	"10.0.0.1", "10.255.255.255", "012.1.2.3", "167772161", "172.16.0.1", "172.31.255.255", "192.168.0.1", "0xc0a80001", "3232235521",
	"169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.0.1", "100.64.0.1", "100.127.255.255",
	// Neither private nor public.
	"192.0.0.8", "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "198.19.255.255", "192.88.99.1",
	"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
	// The same in IPv6.
	"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::1%25lo]", "[fe80::1]", "[fe80::1%25eth0]", "[febf::1]", "[fec0::1]",
	"[fc00::1]", "[fd00:ec2::254]", "[fdff::1]", "[ff02::1]", "[ff0e::1]", "[100::1]", "[5f00::1]", "[3fff::1]", "[2001:db8::1]",
	// IPv4 in IPv6: mapped, compatible, translated, 6to4, Teredo, ISATAP.
	"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:10.0.0.1]", "[::ffff:0:127.0.0.1]", "[::ffff:169.254.169.254]", "[::127.0.0.1]", "[::7f00:1]",
	"[64:ff9b::7f00:1]", "[64:ff9b::10.0.0.1]", "[64:ff9b:1::7f00:1]", "[64:ff9b:1:ffff::1]", "[2002:7f00:1::1]", "[2002:c0a8:1::]", "[2002:a9fe:a9fe::]",
	"[2001::1]", "[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[2001:20::1]", "[2001:2::1]", "[fe80::5efe:10.0.0.1]",
	// Digits and dots of other scripts, which become ASCII on the way.
	"１２７.０.０.１", "①②⑦.⓪.⓪.①", "127。0。0。1", "127．0．0．1", "１６９．２５４．１６９．２５４", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "%31%32%37.0.0.1", "127.0.0.1%00", "[::ⅰ]",
	// What a person does not see.
	"8.8.8.8@127.0.0.1", "example.org:80@127.0.0.1", "127.0.0.1:80:80", "127.0.0.1\\@example.org", "", "example.org#@127.0.0.1", "127.0.0.1:65536",
	// Names that lead inside; the resolver below says so.
	"printer.local", "metadata.google.internal", "router.home.arpa", "inside.example", "mapped.example", "nat64.example", "all.inside.example",
	"xn--inside-cua.example", "inside.example.", "cname.inside.example",
}

// names is a resolver of a network in which some lead inside.
var names = map[string][]string{
	"printer.local.": {"192.168.0.7"}, "metadata.google.internal.": {"169.254.169.254"}, "router.home.arpa.": {"192.168.1.1"},
	"inside.example.": {"10.0.0.1"}, "mapped.example.": {"::ffff:10.0.0.1"}, "nat64.example.": {"64:ff9b::a00:1"},
	"all.inside.example.": {"127.0.0.1", "::1", "10.0.0.1", "fd00::1"}, "xn--inside-cua.example.": {"127.0.0.1"},
	"cname.inside.example.": {"127.0.0.1"}, "localhost.": {"127.0.0.1", "::1"}, "foo.localhost.": {"127.0.0.1"},
	"mixed.example.": {"8.8.8.8", "10.0.0.1", "2606:4700::1111", "::1"}, "rebinds.example.": {"8.8.8.8"},
}

// inside is a world for one client: where names lead, and what it would connect
// to. Nothing is connected to.
type inside struct {
	t      *testing.T
	mu     sync.Mutex
	names  map[string][]string
	passed []netip.Addr // of which the guard said that they may be dialled
	seen   int          // addresses that the guard was asked about
}

var errStopped = errors.New("nothing is dialled here")

func newInside(t *testing.T) (*inside, *Client) {
	w := &inside{t: t, names: names}
	return w, newClient(Config{}, dialer{
		rule:     w,
		resolver: &net.Resolver{PreferGo: true, Dial: w.dialResolver},
	})
}

func (w *inside) control(network, address string, c syscall.RawConn) error {
	err := publicOnly{}.control(network, address, c)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen++
	if err == nil {
		w.passed = append(w.passed, netip.MustParseAddrPort(address).Addr())
		err = errStopped
	}
	return err
}

// outside are the public addresses of names.
var outside = []netip.Addr{netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("2606:4700::1111")}

// check fails the test if another address than a public one was let through.
func (w *inside) check(host string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, addr := range w.passed {
		if addr != outside[0] && addr != outside[1] {
			w.t.Errorf("%s: %s would be connected to", host, addr)
		}
	}
}

// dialResolver speaks DNS over a pipe.
func (w *inside) dialResolver(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go func() {
		defer ours.Close()
		for {
			query := make([]byte, 2)
			if _, err := io.ReadFull(ours, query); err != nil {
				return
			}
			query = make([]byte, int(query[0])<<8|int(query[1]))
			if _, err := io.ReadFull(ours, query); err != nil {
				return
			}
			answer := w.answer(query)
			if _, err := ours.Write(append([]byte{byte(len(answer) >> 8), byte(len(answer))}, answer...)); err != nil {
				return
			}
		}
	}()
	return theirs, nil
}

func (w *inside) answer(query []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
		return nil
	}
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	q := m.Questions[0]
	w.mu.Lock()
	addrs, ok := w.names[strings.ToLower(q.Name.String())]
	w.mu.Unlock()
	if !ok {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addrs {
		addr := netip.MustParseAddr(a)
		h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
		switch {
		case addr.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: addr.As4()}})
		case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	packed, err := m.Pack()
	if err != nil {
		return nil
	}
	return packed
}

// ask requests an address however it is written; one that is none is refused
// before anything is dialled.
func ask(c *Client, address string) error {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	return err
}

// TestNoSpellingIsConnectedTo asks for each, with each scheme and some ports.
func TestNoSpellingIsConnectedTo(t *testing.T) {
	if len(spellings) < 60 {
		t.Fatalf("%d spellings", len(spellings))
	}
	for _, host := range spellings {
		for _, form := range []string{"http://%s/feed", "https://%s/feed", "http://%s:80/", "http://%s:1/x", "HTTP://%s"} {
			w, c := newInside(t)
			if err := ask(c, fmt.Sprintf(form, host)); err == nil {
				t.Errorf("%s: it was answered", host)
			}
			if err := c.Connect(t.Context(), fmt.Sprintf(form, host)); err == nil {
				t.Errorf("%s: it was connected to", host)
			}
			w.check(host)
		}
	}
}

// TestNumbersAreRefusedByName: who gives an address learns why it is refused.
func TestNumbersAreRefusedByName(t *testing.T) {
	for _, host := range []string{
		"127.0.0.1", "127.1", "0x7f000001", "017700000001", "2130706433", "[::1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]",
		"[2002:7f00:1::1]", "[2001::1]", "[3fff::1]", "１２７.０.０.１", "127。0。0。1", "192.88.99.1", "192.0.2.1", "inside.example", "all.inside.example", "printer.local",
		"mapped.example", "8.8.8.8@127.0.0.1", "localhost", "foo.localhost",
	} {
		_, c := newInside(t)
		if err := ask(c, "http://"+host+"/"); !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// TestNamesThatChange: what a name led to before does not matter, nor what else
// it leads to.
func TestNamesThatChange(t *testing.T) {
	w, c := newInside(t)
	w.names = map[string][]string{"rebinds.example.": {"8.8.8.8"}, "mixed.example.": names["mixed.example."]}
	if err := ask(c, "http://rebinds.example/"); !errors.Is(err, errStopped) {
		t.Fatalf("public at first: %v", err)
	}
	w.mu.Lock()
	w.names["rebinds.example."] = []string{"127.0.0.1", "::1"}
	w.mu.Unlock()
	if err := ask(c, "http://rebinds.example/"); !errors.Is(err, ErrPrivate) {
		t.Errorf("then private: %v", err)
	}
	before := w.seen
	if err := ask(c, "http://mixed.example/"); err == nil {
		t.Error("mixed: it was answered")
	}
	if w.seen < before+4 { // so that the private ones were tried at all
		t.Errorf("mixed: %d addresses were tried", w.seen-before)
	}
	w.check("names that change")
}

// TestNothingLeadsInside: no answer of a public server makes a client connect to
// a private one, whether it is followed or not.
func TestNothingLeadsInside(t *testing.T) {
	private, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer private.Close()
	go func() {
		for {
			conn, err := private.Accept()
			if err != nil {
				return
			}
			t.Error("the private server was connected to")
			conn.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(private.Addr().String())
	for _, host := range []string{"127.0.0.1", "127.1", "0x7f000001", "2130706433", "localhost", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0", "[::]", "１２７.０.０.１"} {
		there := "http://" + host + ":" + port + "/"
		for _, status := range []int{301, 302, 303, 307, 308} {
			leads(t, there, true, func(w http.ResponseWriter) {
				w.Header().Set("Location", there)
				w.WriteHeader(status)
			})
		}
		for header, value := range map[string]string{
			"Refresh": "0;url=" + there, "Alt-Svc": `h2="` + host + ":" + port + `", http/1.1="` + host + ":" + port + `"; ma=86400`,
			"Content-Location": there, "Location": there, "Link": "<" + there + ">; rel=preconnect", "Use-Proxy": there,
		} {
			leads(t, there, false, func(w http.ResponseWriter) {
				w.Header().Set(header, value)
				fmt.Fprintf(w, `<html><meta http-equiv="refresh" content="0;url=%s"><base href="%[1]s"><img src="%[1]s">`, there)
			})
		}
		leads(t, there, false, func(w http.ResponseWriter) {
			w.Header().Set("Location", there)
			w.WriteHeader(http.StatusUseProxy)
		})
	}
	for _, variable := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(variable, "http://127.0.0.1:"+port)
	}
	leads(t, "a proxy of the environment", false, func(http.ResponseWriter) {})
}

// leads asks a server that stands for a public one, twice, over one client.
func leads(t *testing.T, there string, refused bool, answer func(http.ResponseWriter)) {
	t.Helper()
	public := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
	defer public.Close()
	c := newClient(Config{}, dialer{rule: letThrough(public)})
	defer c.CloseIdle()
	for range 2 {
		err := ask(c, public.URL)
		if refused != errors.Is(err, ErrPrivate) || !refused && err != nil {
			t.Errorf("%s: %v", there, err)
		}
	}
}

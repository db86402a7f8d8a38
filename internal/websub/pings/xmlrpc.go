package pings

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/feedring/feedring/internal/throttle"
)

const maxCall = 64 << 10

// The codes of faults that XML-RPC servers agree on.
const (
	badXML        = -32700
	unknownMethod = -32601
	badParameters = -32602
)

// call is an XML-RPC call whose parameters are strings.
type call struct {
	XMLName xml.Name `xml:"methodCall"`
	Method  string   `xml:"methodName"`
	Params  []value  `xml:"params>param>value"`
}

// value is a string, with or without an element that says so.
type value struct {
	Bare   string  `xml:",chardata"`
	String *string `xml:"string"`
}

func (v *value) text() string {
	if v.String != nil {
		return strings.TrimSpace(*v.String)
	}
	return strings.TrimSpace(v.Bare)
}

// fault is an error as the caller is told it.
type fault struct {
	code int
	text string
}

func (f *fault) Error() string { return f.text }

// ServeHTTP answers POST /RPC2.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	message, failed, err := r.answer(w, req)
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		http.Error(w, fmt.Sprintf("the call is longer than %d bytes", maxCall), http.StatusRequestEntityTooLarge)
		return
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	_, _ = io.WriteString(w, response(message, failed, err)) // who left needs no answer
}

func (r *Receiver) answer(w http.ResponseWriter, req *http.Request) (message string, failed bool, err error) {
	c, err := readCall(http.MaxBytesReader(w, req.Body, maxCall))
	if err != nil {
		return "", false, err
	}
	addresses, err := c.addresses()
	if err != nil {
		return "", false, err
	}
	if wait := r.slow(req); wait > 0 {
		return fmt.Sprintf("Too many pings: the next is taken in %d seconds.", throttle.Seconds(wait)), true, nil
	}
	if r.Ping(true, addresses...) == 0 {
		return "Nothing was fetched: this peer publishes no feed of that site.", true, nil
	}
	return "Thanks for the ping. The feed is fetched now.", false, nil
}

// readCall reads one call. The decoder knows no entities but XML's own, so
// nothing grows.
func readCall(body io.Reader) (*call, error) {
	d := xml.NewDecoder(body)
	d.CharsetReader = latin1
	var c call
	err := d.Decode(&c)
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, long
	case err != nil:
		return nil, &fault{badXML, "this is no XML-RPC call: " + err.Error()}
	}
	return &c, nil
}

// latin1 reads the other encoding that old tools send. Addresses are ASCII in
// either.
func latin1(charset string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "us-ascii", "windows-1252", "latin1":
	default:
		return nil, fmt.Errorf("charset %q: only UTF-8 is read", charset)
	}
	raw, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	runes := make([]rune, len(raw))
	for i, b := range raw {
		runes[i] = rune(b)
	}
	return strings.NewReader(string(runes)), nil
}

// addresses are what a call names: ping(name, site) and extendedPing(name, site,
// page that changed, feed); some send the feed as ping's third.
func (c *call) addresses() ([]string, error) {
	method := strings.TrimSpace(c.Method)
	switch method {
	case "weblogUpdates.ping", "weblogUpdates.extendedPing":
	default:
		return nil, &fault{unknownMethod, fmt.Sprintf("no method %.80q: there are weblogUpdates.ping and weblogUpdates.extendedPing", method)}
	}
	if len(c.Params) < 2 || len(c.Params) > 8 {
		return nil, &fault{badParameters, method + " takes the name and the address of a site, and perhaps those of a page and of a feed"}
	}
	var addresses []string
	for i := range c.Params[1:] {
		if text := c.Params[1+i].text(); keyOf(text) != "" {
			addresses = append(addresses, text)
		}
	}
	if len(addresses) == 0 {
		return nil, &fault{badParameters, method + ": the second parameter is no absolute address, such as https://blog.example/"}
	}
	return addresses, nil
}

// response writes a methodResponse: a fault, or what weblogUpdates answers.
func response(message string, failed bool, err error) string {
	var b strings.Builder
	b.WriteString(xml.Header + "<methodResponse>")
	var f *fault
	switch {
	case errors.As(err, &f):
		fmt.Fprintf(&b, "<fault><value><struct><member><name>faultCode</name><value><int>%d</int></value></member>"+
			"<member><name>faultString</name><value><string>", f.code)
		_ = xml.EscapeText(&b, []byte(f.text)) // into memory
		b.WriteString("</string></value></member></struct></value></fault>")
	default:
		flag := 0
		if failed {
			flag = 1
		}
		fmt.Fprintf(&b, "<params><param><value><struct><member><name>flerror</name><value><boolean>%d</boolean></value></member>"+
			"<member><name>message</name><value><string>", flag)
		_ = xml.EscapeText(&b, []byte(message))
		b.WriteString("</string></value></member></struct></value></param></params>")
	}
	b.WriteString("</methodResponse>\n")
	return b.String()
}

package document

import (
	"net/http"
	"testing"
)

func TestHubs(t *testing.T) {
	for name, c := range map[string]struct {
		header, body, hub, self string
	}{
		"rss": {"", `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>t</title>
			<atom:link rel="hub" href="https://hub.example/"/><atom:link rel="self" href="/feed"/></channel></rss>`,
			"https://hub.example/", "https://site.example/feed"},
		"atom": {"", `<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><link rel="hub" href="https://hub.example/"/>
			<link rel="hub" href="https://second.example/"/><link rel="self" href="https://site.example/a"/></feed>`,
			"https://hub.example/", "https://site.example/a"},
		"json": {"", `{"version":"https://jsonfeed.org/version/1.1","title":"t","feed_url":"https://site.example/j","items":[],
			"hubs":[{"type":"rssCloud","url":"https://no.example/"},{"type":"WebSub","url":"https://hub.example/"}]}`,
			"https://hub.example/", "https://site.example/j"},
		"header": {`<https://x.example/a,b>; rel="next"; title="a, <b>", <https://hub.example/>; rel=hub, </s>;rel="alternate self"`,
			`<rss version="2.0"><channel><title>t</title></channel></rss>`, "https://hub.example/", "https://site.example/s"},
		"both": {`<https://first.example/>; rel="hub"`, `<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title>
			<link rel="hub" href="https://second.example/"/></feed>`, "https://first.example/", ""},
		"nonsense": {`<https://x.example/; rel="hub", <`, `<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title>
			<link rel="hub" href="javascript:alert(1)"/></feed>`, "", ""},
	} {
		header := http.Header{}
		if c.header != "" {
			header.Set("Link", c.header)
		}
		d, err := Parse(Source{URL: "https://site.example/feed.xml", Header: header}, []byte(c.body))
		if err != nil || d.Hub != c.hub || d.Self != c.self {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

package document

import (
	"net/url"
	"strings"
)

const maxLink = 4 << 10 // bytes; longer ones are left out

// lineBreaks are not part of an address that was wrapped; browsers drop them.
var lineBreaks = strings.NewReplacer("\n", "", "\r", "", "\t", "")

// absolute resolves a link against base. It returns "" for what is not http or
// https.
func absolute(base *url.URL, link string) string {
	link = lineBreaks.Replace(strings.TrimSpace(link))
	if link == "" || len(link) > maxLink {
		return ""
	}
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	if base != nil && !u.IsAbs() {
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return u.String()
}

// baseOf is what relative links of a feed are relative to: its site's address,
// else its own.
func baseOf(location, link string) *url.URL {
	document, err := url.Parse(location)
	if err != nil {
		return nil
	}
	if site := absolute(document, link); site != "" {
		if u, err := url.Parse(site); err == nil {
			return u
		}
	}
	return document
}

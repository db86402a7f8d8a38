package document

import (
	"net/url"
	"slices"
	"strings"
)

// Former returns the keys that an item had where its feed had other addresses: by
// http, or at another site. Many sites write their own address into guids and
// links, so that these move with the feed.
func (it *Item) Former() []string {
	if it.src == nil || !strings.HasPrefix(it.key, "http") {
		return nil
	}
	return formerKeys(it.key, it.src)
}

// formerKeys is what a guid or link was before, the most likely first.
func formerKeys(key string, src *Source) (keys []string) {
	if rest, ok := strings.CutPrefix(key, "https://"); ok {
		keys = append(keys, "http://"+rest)
	}
	_, here, ok := strings.Cut(siteOf(src.Location), "//")
	_, rest, isURL := strings.Cut(key, "//")
	if rest, at := strings.CutPrefix(rest, here); ok && isURL && at && (rest == "" || strings.ContainsRune("/?#", rune(rest[0]))) {
		for _, address := range append([]string{src.URL}, src.Former...) {
			if site := siteOf(address); site != "" {
				keys = append(keys, site+rest)
				if _, host, ok := strings.Cut(site, "https://"); ok {
					keys = append(keys, "http://"+host+rest)
				}
			}
		}
	}
	return slices.DeleteFunc(keys, func(k string) bool { return k == key })
}

// siteOf is an address without its path; empty: it is none.
func siteOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

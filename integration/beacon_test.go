package integration

import (
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// beacon stands for the rest of the world to a browser, as its proxy: it notes
// who is asked for, and answers for nobody.
type beacon struct {
	*httptest.Server
	mu    sync.Mutex
	hosts []string
}

func newBeacon(t testing.TB) *beacon {
	b := &beacon{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.note(r.Host)
		http.Error(w, "nobody is here", http.StatusBadGateway)
	}))
	t.Cleanup(b.Close)
	return b
}

// makers are hosts that a browser asks by itself, whatever is on a page.
var makers = []string{"google.com", "googleapis.com", "gstatic.com", "gvt1.com"}

func (b *beacon) note(host string) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if slices.ContainsFunc(makers, func(m string) bool { return host == m || strings.HasSuffix(host, "."+m) }) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hosts = append(b.hosts, host)
}

// asked are the hosts asked for so far.
func (b *beacon) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.hosts)
}

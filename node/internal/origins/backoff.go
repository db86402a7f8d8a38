package origins

import (
	"net/http"
	"time"

	"github.com/feedring/feedring/node/internal/origins/backoff"
)

// SiteBackoff is for what is asked of sites beside feeds. A host that wants to be
// left alone means all of it.
type SiteBackoff struct{ Feeds *Feeds }

// Opens implements vouch.HostPolicy.
func (s SiteBackoff) Opens(host string) time.Time { return s.Feeds.watcher.Opens(host) }

// ApplyHints implements vouch.HostPolicy. What a host asks for is kept over a restart: no
// feed's state says it.
func (s SiteBackoff) ApplyHints(host string, status int, header http.Header) {
	if until, openEnded := s.Feeds.watcher.ApplyHints(host, status, header); !until.IsZero() {
		s.Feeds.backoffs().Save(host, backoff.Host{Until: until, OpenEnded: openEnded})
	}
}

// keepBackoff keeps what the origin of a feed asked for that is removed: its host is left
// alone all the same.
func (o *Feeds) keepBackoff(f *origin) {
	st, err := o.State(f.url)
	if err == nil && st.Held != "" && time.Now().Before(st.NotBefore) && !o.assignments.fetchedElsewhere(f.spec()) {
		o.backoffs().Save(st.Held, backoff.Host{Until: st.NotBefore, OpenEnded: st.HeldOpenEnded})
	}
}

func (o *Feeds) backoffs() backoff.Hosts { return backoff.Hosts{Store: o.Store, Log: o.Log} }

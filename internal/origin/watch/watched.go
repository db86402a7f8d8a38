package watch

import "github.com/feedring/feedring/internal/origin/fetch"

// watched is one feed, of which there may be a million: 48 bytes and the address.
// It is what decides when the feed is fetched; all else is loaded when a fetch
// begins. It is in one of the queues, or fetched, or gone.
type watched struct {
	url     string
	due     int64  // Unix nanoseconds
	in      *queue // nil: in none
	index   int32  // there
	ours    bool   // its origin is no stranger's
	fresh   bool   // never fetched
	failed  bool   // the last time
	refused bool   // what the last fetch found was not stored: fetch.State.Refused
	extra   *extra // nil: it is none of what follows
}

// extra is what is said of few feeds at a time.
type extra struct {
	host     string        // that is asked, where it is not the one of the address
	fetching *fetching     // under way
	asked    chan struct{} // closed at the end of the next fetch, for who waits
	again    bool          // asked for during a fetch
	removed  bool
}

// newWatched is a feed that is asked for at a host.
func newWatched(url, host string, ours bool) *watched {
	f := &watched{url: url, ours: ours}
	f.moveTo(host)
	return f
}

// now is what is said of it.
func (f *watched) now() extra {
	if f.extra == nil {
		return extra{}
	}
	return *f.extra
}

// change is the same to be changed; settle follows where it may become nothing.
func (f *watched) change() *extra {
	if f.extra == nil {
		f.extra = new(extra)
	}
	return f.extra
}

func (f *watched) settle() {
	if f.now() == (extra{}) {
		f.extra = nil
	}
}

// host is where it is asked for.
func (f *watched) host() string {
	if x := f.now(); x.host != "" {
		return x.host
	}
	return hostOf(f.url)
}

func (f *watched) moveTo(host string) {
	if host == hostOf(f.url) {
		host = ""
	}
	if host != f.now().host {
		f.change().host = host
		f.settle()
	}
}

// know takes from a state what is kept in memory.
func (f *watched) know(s *fetch.State) {
	f.fresh, f.failed, f.refused = s.LastFetch.IsZero(), s.Failures > 0, s.Refused
}

package web

import (
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/throttle"
)

const (
	maxBody    = 64 << 10
	maxStreams = 1000 // at once
	maxQueries = 256  // at once: each may hold an answer in memory
	share      = 16   // the part of these that one asker may have: one in so many
	guessEvery = 12 * time.Second
	guesses    = 5 // wrong tokens of one asker at once, and one more every guessEvery
	strayEvery = 2 * time.Second
	strays     = 100 // the same of polls of no feed: a service polls for very many, of whom some have revoked theirs
)

// Config says whose front it is. Backend is needed; all else may be empty.
type Config struct {
	Backend   Backend
	Token     string           // of the API; empty: nothing that needs one works on the web address
	PublicURL string           // what a proxy in front is called, without a final slash
	Address   string           // host:port it is reached at
	Proxies   asker.Proxies    // in front of this peer: what they say of who asks is believed
	Refused   *refusals.Counts // nil: nobody counts
	Logger    *slog.Logger
	Metrics   http.Handler // nil: no /metrics
	Personal  Personal     // nil: no personal feeds
	Hub       string       // path of the WebSub hub that feeds name; empty: none
	Front     Front        // nil: the peer's own feeds are not served
	Network   Network      // nil: the peer's network has no charter
	Members   Members      // nil: the peer's network has no charter
	Fleet     Fleet        // nil: the peer is in none
	LeftFleet bool         // it keeps rows of one, and is in none
	Users     Users        // the same
	// Open are routes of other rooms, by pattern. Anybody may use them, but no page
	// of another web origin.
	Open map[string]http.Handler
}

// Site answers requests. It is safe for concurrent use.
type Site interface {
	http.Handler
	// Plain answers a poll of a personal feed as ServeHTTP does, for who writes to a
	// connection by itself: to head it appends the status line and all lines of the
	// header but Date and those of the connection. ok is false where only ServeHTTP can
	// answer. The body must not be changed.
	Plain(p *PlainPoll, head []byte) (_, body []byte, ok bool)
}

// Handler returns the front for a web address. Private feeds and changes need
// the token.
func Handler(cfg Config) Site { return newSite(cfg, false) }

// SocketHandler returns the front for the control socket, whose file mode says
// who may use it: it asks for no token.
func SocketHandler(cfg Config) http.Handler { return newSite(cfg, true) }

// site is one front. It is safe for concurrent use.
type site struct {
	Config
	trusted  bool // the control socket
	token    [sha256.Size]byte
	hosts    map[string]bool
	origins  *http.CrossOriginProtection
	mux      *http.ServeMux
	streams  *throttle.Places // of open streams
	queries  *throttle.Places // of queries being answered
	guesses  *throttle.Buckets
	strays   *throttle.Buckets // of polls in a fleet that no peer has a feed for
	renders  chan struct{}     // a place for each personal feed being written
	docs     *ready            // personal feeds as they were last sent
	prepared preparations      // heads of answers for them
	sessions sessions
	loopback bool // only this machine reaches the front, so loopback is nobody's share

	now         func() time.Time
	beat        time.Duration // between signs of life on a stream
	writeWithin time.Duration // for one write to a stream's reader
}

func newSite(cfg Config, trusted bool) *site {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &site{
		Config: cfg, trusted: trusted, token: sha256.Sum256([]byte(cfg.Token)),
		hosts: knownHosts(cfg), origins: http.NewCrossOriginProtection(), mux: http.NewServeMux(),
		streams: throttle.NewPlaces(maxStreams, maxStreams/share), queries: throttle.NewPlaces(maxQueries, maxQueries/share),
		guesses: throttle.New(guessEvery, guesses), strays: throttle.New(strayEvery, strays), loopback: onLoopback(cfg.Address),
		renders: make(chan struct{}, rendersAtOnce), docs: newReady(),
		now: time.Now, beat: 15 * time.Second, writeWithin: 20 * time.Second,
	}
	if origin := originOf(cfg.PublicURL); origin != "" {
		if err := s.origins.AddTrustedOrigin(origin); err != nil {
			cfg.Logger.Warn("the page behind the public address cannot change anything", "url", cfg.PublicURL, "err", err)
		}
	}
	s.routes()
	return s
}

func (s *site) routes() {
	s.page("GET /{$}", s.home)
	s.page("GET /group/{theme}", s.group)
	s.page("POST /signin", s.signIn)
	s.page("POST /signout", s.signOut)
	for _, address := range []string{"/signin", "/signout"} {
		s.page("GET "+address, s.formAddress)
	}
	s.assets()
	s.handle("GET /livez", s.live)
	s.handle("GET /healthz", s.live)
	s.handle("GET /readyz", s.ready)
	if s.trusted { // profiles of the process, for "go tool pprof"
		s.mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		s.mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		s.mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	if s.Metrics != nil {
		s.mux.Handle("GET /metrics", s.Metrics)
	}
	s.handle("GET /api/v1/status", s.status)
	s.handle("GET /api/v1/ring", s.ring)
	s.handle("GET /api/v1/catalog/{theme}", s.catalogue)
	s.handle("GET /api/v1/entries", s.entries)
	s.handle("GET /api/v1/entries.atom", s.entriesAtom)
	s.handle("DELETE /api/v1/entries", s.requireToken(s.retract))
	s.handle("GET /api/v1/entries/{id}", s.requireToken(s.copies))
	s.handle("DELETE /api/v1/entries/{id}", s.requireToken(s.retract))
	s.handle("GET /api/v1/stream", s.stream)
	s.handle("GET /api/v1/feeds", s.requireToken(s.feeds))
	s.handle("POST /api/v1/feeds", s.requireToken(s.addFeed))
	s.handle("POST /api/v1/feeds/move", s.requireToken(s.moveFeed))
	s.handle("DELETE /api/v1/feeds", s.requireToken(s.removeFeed))
	s.handle("DELETE /api/v1/feeds/{url}", s.requireToken(s.removeFeed))
	s.handle("GET /api/v1/opml", s.requireToken(s.exportOPML))
	s.handle("POST /api/v1/opml", s.requireToken(s.importOPML))
	s.handle("POST /api/v1/ping", s.requireToken(s.ping))
	s.handle("GET /api/v1/join", s.requireToken(s.joins))
	s.handle("POST /api/v1/join", s.requireToken(s.join))
	s.handle("DELETE /api/v1/join", s.requireToken(s.removeJoin))
	s.handle("GET /api/v1/blocks", s.requireToken(s.blocks))
	s.handle("POST /api/v1/blocks", s.requireToken(s.block))
	s.handle("DELETE /api/v1/blocks", s.requireToken(s.unblock))
	s.handle("GET /api/v1/blocklists", s.requireToken(s.blockLists))
	s.handle("POST /api/v1/blocklists", s.requireToken(s.followBlocks))
	s.handle("DELETE /api/v1/blocklists", s.requireToken(s.unfollowBlocks))
	s.handle("GET /api/v1/history", s.requireToken(s.history))
	s.handle("POST /api/v1/history/rebuild", s.requireToken(s.rebuildHistory))
	if s.Personal != nil {
		s.page("POST /subscribe", s.makePersonal)
		s.page("POST /revoke", s.revokePersonal)
		s.page("GET /subscribe", s.formAddress)
		s.page("GET /revoke", s.formAddress)
		s.handle("GET /api/v1/subscriptions", s.requireReader(s.subscriptions))
		s.handle("POST /api/v1/subscriptions", s.requireReader(s.subscribe))
		s.handle("DELETE /api/v1/subscriptions/{id}", s.requireReader(s.unsubscribe))
		s.userRoutes()
		s.mux.HandleFunc("GET "+PersonalPath+"{name}", func(w http.ResponseWriter, r *http.Request) {
			if err := s.personalFeed(w, r); err != nil {
				s.refuse(w, r, err)
			}
		})
	}
	if s.Front != nil {
		s.handle("GET "+frontPath, s.ownFeed) // for who comes with another method
	}
	for pattern, h := range s.Open {
		s.handle(pattern, s.open(h))
	}
	if s.Network != nil {
		s.handle("POST /api/v1/network/invitations", s.requireToken(s.invite))
		s.handle("POST /api/v1/network/statements", s.requireToken(s.takeStatements))
		s.handle("GET /api/v1/network/meant", s.requireToken(s.meant))
	}
	s.handle("GET /api/v1/doctor", s.requireToken(s.doctor))
	s.handle("GET /api/v1/vouch", s.requireToken(s.vouch))
}

// reply answers a request. An error becomes a problem document, so it must
// come before anything was written.
type reply func(w http.ResponseWriter, r *http.Request) error

func (s *site) handle(pattern string, do reply) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := do(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// ServeHTTP answers what no route takes in the same form as everything else.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	if s.Front != nil && !s.Closed() && strings.HasPrefix(r.URL.Path, frontPath) && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		// Most of what comes; the router would look for it twice. These documents are
		// published, and a proxy may pass on the name of their site.
		s.poll(w, r)
		return
	}
	if !s.knownHost(r) {
		s.Refused.Add(refusals.HTTP, refusals.Host)
		s.refuse(w, r, foreignHost(r))
		return
	}
	limitBody(w, r)
	r = r.WithContext(asker.With(r.Context(), s.asker(r)))
	if err := s.memberOnly(r); err != nil {
		s.refuse(w, r, err)
		return
	}
	if h, pattern := s.mux.Handler(r); pattern == "" {
		s.refuse(w, r, refusal(h, r))
		return
	}
	s.mux.ServeHTTP(w, r)
}

// refuse answers a request that cannot be: to people with a page.
func (s *site) refuse(w http.ResponseWriter, r *http.Request, why error) {
	w.Header().Set("Vary", "Accept")
	if !accepts(r.Header.Values("Accept"), "text/html") {
		s.fail(w, r, why)
		return
	}
	_ = s.problemPage(w, r, why) // a reader who left needs no error
}

// secure sets what every answer says to a browser: load nothing, run nothing,
// show it in no frame.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-cache")
}

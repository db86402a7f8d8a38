package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/render"
)

// Personal keeps personal feeds. All methods are safe for concurrent use.
type Personal interface {
	// Subscriptions lists all of a user, the oldest first. Here and below an empty user
	// is the owner. Where there are very many it lists some after one id, "" at first, by
	// id, and next is the id to go on after; empty: nothing follows. *SilentError comes with
	// what there is of the owner's where some peers of a fleet did not answer.
	Subscriptions(ctx context.Context, user, after string) (page []Subscription, next string, err error)
	// Subscribe makes one and returns when it is kept. With stem its words are met by
	// other forms of them, in the language that an entry's feed names.
	Subscribe(ctx context.Context, user string, q feedring.Query, stem bool) (Subscription, error)
	// Unsubscribe revokes one of a user. ErrUnknown where there is none.
	Unsubscribe(ctx context.Context, user, id string) error
	// State looks a secret up without reading an entry; false: it opens nothing.
	State(secret string) (PersonalState, bool)
	// Read returns the entries of a secret, as they are shown, and the state that
	// they are of. ErrUnknown where it opens nothing.
	Read(ctx context.Context, secret string) (PersonalState, []feedring.Entry, error)
}

// Subscription is one personal feed as its owner sees it.
type Subscription struct {
	ID      string
	Secret  string // part of its address
	Query   feedring.Query
	Stem    bool
	Created time.Time
}

// PersonalState says which state of a personal feed is shown.
type PersonalState struct {
	Subscription
	Fleet    bool      // a fleet keeps it: another peer may have it tomorrow
	Version  uint64    // differs where what is shown does
	Modified time.Time // when it last changed, whole seconds
}

// subscriptionRequest is what a caller asks for.
type subscriptionRequest struct {
	Theme    string `json:"theme"`
	Provider string `json:"provider"`
	Words    string `json:"q"`
	Since    string `json:"since"`
	Until    string `json:"until"`
	Limit    int    `json:"limit"` // entries kept; 0: feedring.DefaultLimit
	Stem     bool   `json:"stem"`  // other forms of the words, too
}

const subscriptionExample = `{"theme":"news","q":"europe energie"}`

// subscriptionAnswer is a personal feed with its addresses.
type subscriptionAnswer struct {
	ID       string         `json:"id"`
	Theme    feedring.Theme `json:"theme,omitempty"`
	Provider string         `json:"provider,omitempty"`
	Words    string         `json:"q,omitempty"`
	Since    time.Time      `json:"since,omitzero"`
	Until    time.Time      `json:"until,omitzero"`
	Limit    int            `json:"limit"`
	Stem     bool           `json:"stem,omitempty"`
	Created  time.Time      `json:"created"`
	Atom     string         `json:"atom"`
	RSS      string         `json:"rss"`
	JSON     string         `json:"json"`
}

func (s *site) subscriptions(w http.ResponseWriter, r *http.Request, who caller) error {
	base, err := s.personalBase(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	whole := !query.Has("after")
	subs, next, err := s.Personal.Subscriptions(r.Context(), who.user, query.Get("after"))
	if err := tellSilent(w.Header(), SilentHeader, err); err != nil {
		return err
	}
	if next != "" && !whole {
		w.Header().Set("Link", "<?after="+next+`>; rel="next"`)
	}
	w.Header().Set("Content-Type", "application/json")
	encoder, before := newEncoder(w), "["
	for {
		for i := range subs {
			_, _ = io.WriteString(w, before)
			if encoder.Encode(answerOf(&subs[i], base)) != nil {
				return nil // the reader left
			}
			before = ","
		}
		if next == "" || !whole {
			break
		}
		subs, next, err = s.Personal.Subscriptions(r.Context(), who.user, next)
		if tellSilent(w.Header(), http.TrailerPrefix+SilentHeader, err) != nil {
			panic(http.ErrAbortHandler) // the status is out
		}
	}
	_, _ = io.WriteString(w, strings.TrimPrefix(before, ",")+"]\n")
	return nil
}

func (s *site) subscribe(w http.ResponseWriter, r *http.Request, who caller) error {
	base, err := s.personalBase(r)
	if err != nil {
		return err
	}
	var req subscriptionRequest
	if err := readJSON(w, r, &req, subscriptionExample); err != nil {
		return err
	}
	q, err := parseQuery(req.values(), s.now())
	if err != nil {
		return err
	}
	sub, err := s.Personal.Subscribe(r.Context(), who.user, q, req.Stem)
	if err != nil {
		return refused(err)
	}
	w.Header().Set("Location", "/api/v1/subscriptions/"+sub.ID)
	return writeJSON(w, http.StatusCreated, answerOf(&sub, base))
}

// values is the request as the parameters of a query.
func (q *subscriptionRequest) values() url.Values {
	v := url.Values{"theme": {q.Theme}, "provider": {q.Provider}, "q": {q.Words}, "since": {q.Since}, "until": {q.Until}}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return v
}

func (s *site) unsubscribe(w http.ResponseWriter, r *http.Request, who caller) error {
	if err := s.Personal.Unsubscribe(r.Context(), who.user, r.PathValue("id")); err != nil {
		return refused(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func answerOf(s *Subscription, base string) subscriptionAnswer {
	q := &s.Query
	return subscriptionAnswer{
		ID: s.ID, Theme: q.Theme, Provider: q.Provider, Words: q.Words, Since: q.Since, Until: q.Until, Limit: q.Limit,
		Stem: s.Stem, Created: s.Created, Atom: personalAddress(base, s.Secret, render.Atom), RSS: personalAddress(base, s.Secret, render.RSS),
		JSON: personalAddress(base, s.Secret, render.JSON),
	}
}

// PersonalPath is below what personal feeds are served.
const PersonalPath = "/feeds/"

func personalAddress(base, secret string, f render.Format) string {
	return base + PersonalPath + secret + "." + f.String()
}

// PersonalSecret returns the secret in the address of a personal feed.
func PersonalSecret(address string) (secret string, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	secret, ending, _ := strings.Cut(u.Path[strings.LastIndexByte(u.Path, '/')+1:], ".")
	_, known := render.ParseFormat(ending)
	return secret, known && strings.HasSuffix(u.Path, PersonalPath+secret+"."+ending) && secret != "" && len(secret) <= maxSecret && u.RawQuery == ""
}

// personalBase is what addresses of personal feeds begin with: readers fetch
// them from elsewhere, so they are absolute.
func (s *site) personalBase(r *http.Request) (string, error) {
	if base := s.base(r); base != "" {
		return base, nil
	}
	if base := AddressBase(s.Address); base != "" {
		return base, nil
	}
	return "", &problem{Status: http.StatusConflict, Detail: "personal feeds are fetched over the web, and this peer has no web address: start it with --http"}
}

// AddressBase is the web address of one that listens at host:port. Whoever
// listens everywhere is reached at the loopback address.
func AddressBase(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

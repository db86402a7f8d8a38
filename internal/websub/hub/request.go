package hub

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/throttle"
	"github.com/feedring/feedring/internal/websub/hub/ledger"
)

const (
	maxBody    = 32 << 10
	maxAddress = 2048
	maxSecret  = 199 // "less than 200 bytes in length"
	maxNamed   = 100 // addresses in one publish
)

// refusal is what is told to who asked wrongly: plain text, as section 5.2 of
// the Recommendation wants.
type refusal struct {
	status int
	detail string
	after  time.Duration // until it may ask again; 0: not told
}

func (r *refusal) Error() string { return r.detail }

func wrong(format string, args ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, detail: fmt.Sprintf(format, args...)}
}

var busy = &refusal{
	status: http.StatusServiceUnavailable, after: 30 * time.Second,
	detail: "this hub asks as many callbacks as it can, for half a minute",
}

// unknown is told of private topics, too: nobody learns that they exist.
var unknown = &refusal{
	status: http.StatusNotFound,
	detail: "this hub serves no such topic: a topic is the address that the feed itself names by rel=\"self\", at the hub that it names by rel=\"hub\"",
}

// ServeHTTP answers POST /hub.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h.take(w, r)
	if err != nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	}
	var told *refusal
	switch {
	case err == nil:
		return
	case !errors.As(err, &told):
		told = wrong("the form cannot be read: %v", err)
	}
	if told.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(throttle.Seconds(told.after)))
	}
	w.WriteHeader(told.status)
	_, _ = fmt.Fprintln(w, told.detail) // who left needs no answer
}

func (h *Hub) take(w http.ResponseWriter, r *http.Request) error {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/x-www-form-urlencoded" {
		return &refusal{status: http.StatusUnsupportedMediaType, detail: "the parameters are no form: its Content-Type is application/x-www-form-urlencoded"}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			return &refusal{status: http.StatusRequestEntityTooLarge, detail: fmt.Sprintf("the form is longer than %d bytes", maxBody)}
		}
		return err
	}
	form := r.PostForm
	mode := form.Get("hub.mode")
	if wait := h.askers.Take(time.Now(), askerFor(mode, r), 1); wait > 0 {
		return tooMany(wait)
	}
	switch mode {
	case "subscribe", "unsubscribe":
		if h.cfg.Shared.Pass(w, r, form.Get("hub.topic")) {
			return nil
		}
		if err := h.subscribe(mode, form); err != nil {
			return err
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintln(w, "the callback is asked now: it must answer 2xx, and hub.challenge as its body")
		return nil
	case "publish":
		return h.publish(w, form)
	default:
		return wrong("hub.mode=%s: it may be subscribe, unsubscribe or publish", clip(mode))
	}
}

// askerFor names who sent a request and what for: a flood of subscriptions
// takes no publisher's ping from the same address, which may be many people's.
func askerFor(mode string, r *http.Request) string {
	switch mode {
	case "subscribe", "unsubscribe", "publish":
		return mode + " " + asker.Of(r.Context(), r.RemoteAddr)
	}
	return asker.Of(r.Context(), r.RemoteAddr)
}

func tooMany(wait time.Duration) *refusal {
	return &refusal{status: http.StatusTooManyRequests, after: wait, detail: "too many requests: Retry-After says for how long"}
}

// subscribe checks a request and has its callback asked.
func (h *Hub) subscribe(mode string, form url.Values) error {
	in, err := h.read(mode, form)
	if err != nil {
		return err
	}
	resource, ok := h.cfg.Topics.Find(in.Topic)
	if !ok {
		return unknown
	}
	in.Resource = resource
	if in.version, ok = h.cfg.Topics.Version(in.Topic); !ok {
		return unknown
	}
	h.mu.Lock()
	_, there := h.ledger.Get(ledger.KeyOf(in.Topic, in.Callback))
	room := h.ledger.HasRoomFor(in.Topic, in.Callback, in.Host)
	h.mu.Unlock()
	switch {
	case mode == "unsubscribe" && !there:
		return nil // there is nothing to end, and nobody to be asked
	case !room:
		return &refusal{status: http.StatusServiceUnavailable, after: time.Hour, detail: "this hub has as many subscriptions as it keeps"}
	}
	// Whoever names the callback of another cannot keep that one from renewing.
	if wait := h.silent.Wait(time.Now(), in.Callback, 1); wait > 0 && !there {
		return &refusal{status: http.StatusTooManyRequests, after: wait, detail: "this callback did not confirm twice: it must answer 2xx, and hub.challenge as its body. It is asked again when Retry-After is over"}
	}
	if wait := h.hosts.Take(time.Now(), in.Host, 1); wait > 0 {
		return tooMany(wait)
	}
	return h.ask(in)
}

// read checks the parameters of a subscription.
func (h *Hub) read(mode string, form url.Values) (*intent, error) {
	topic, callback := form["hub.topic"], form["hub.callback"]
	if len(topic) != 1 || len(callback) != 1 {
		return nil, wrong("hub.topic and hub.callback are needed, each once")
	}
	if !absolute(topic[0]) {
		return nil, wrong("hub.topic %s is no absolute address", clip(topic[0]))
	}
	host, err := h.callbackHost(callback[0])
	if err != nil {
		return nil, err
	}
	secret := form.Get("hub.secret")
	if len(secret) > maxSecret {
		return nil, wrong("hub.secret has %d bytes: less than 200 are allowed", len(secret))
	}
	lease, err := leaseOf(form.Get("hub.lease_seconds"))
	if err != nil {
		return nil, err
	}
	return &intent{mode: mode, lease: lease, Subscription: ledger.Subscription{
		Topic: topic[0], Callback: callback[0], Host: host, Secret: secret,
	}}, nil
}

// callbackHost checks a callback and returns its host. A port of another
// protocol is refused: nobody makes this peer speak to a mail server.
func (h *Hub) callbackHost(callback string) (string, error) {
	u, err := url.Parse(callback)
	if err != nil || !absolute(callback) {
		return "", wrong("hub.callback %s is no absolute http or https address of at most %d bytes", clip(callback), maxAddress)
	}
	host := strings.ToLower(u.Hostname())
	port, err := strconv.Atoi(u.Port())
	switch {
	case u.User != nil:
		return "", wrong("hub.callback carries a password: a secret belongs into its path, or into hub.secret")
	case strings.Contains(callback, "#"):
		return "", wrong("hub.callback has a fragment, which is not sent")
	case u.Port() != "" && (err != nil || port < 1024 && port != 80 && port != 443):
		return "", wrong("hub.callback is at port %s: only 80, 443 and those above 1023 are called", clip(u.Port()))
	case h.cfg.Peer.Refuses(host):
		return "", wrong("hub.callback is at %s, a loopback or private address: this peer calls those only with the setting allow-private-feeds", clip(host))
	}
	return host, nil
}

// absolute reports whether an address can be fetched and can stand in a Link
// header.
func absolute(address string) bool {
	u, err := url.Parse(address)
	return err == nil && len(address) <= maxAddress && utf8.ValidString(address) && u.Hostname() != "" &&
		(u.Scheme == "http" || u.Scheme == "https") && !strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '<' || r == '>' || r == '"' })
}

// leaseOf reads hub.lease_seconds. A century is cut to what there is at most,
// and the verification tells so.
func leaseOf(s string) (time.Duration, error) {
	if s == "" {
		return defaultLease, nil
	}
	if strings.Trim(s, "0123456789") != "" || len(s) > 100 {
		return 0, wrong("hub.lease_seconds=%s is no number of seconds", clip(s))
	}
	seconds, err := strconv.ParseInt(s, 10, 64)
	if err != nil || seconds > int64(longestLease/time.Second) {
		return longestLease, nil
	}
	return max(time.Duration(seconds)*time.Second, shortest), nil
}

// publish has feeds fetched. Older publishers name them hub.url.
func (h *Hub) publish(w http.ResponseWriter, form url.Values) error {
	named := append(append([]string(nil), form["hub.url"]...), form["hub.topic"]...)
	if len(named) == 0 || len(named) > maxNamed {
		return wrong("hub.url or hub.topic names the feeds that changed: one at least, and at most %d", maxNamed)
	}
	if h.cfg.Peer.Publish(named) == 0 {
		return &refusal{status: http.StatusNotFound, detail: "nothing was fetched: this peer publishes no feed at these addresses"}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// clip quotes what a stranger wrote, shortened.
func clip(s string) string {
	if len(s) > 100 {
		s = strings.ToValidUTF8(s[:100], "") + "…"
	}
	return strconv.Quote(s)
}

package hub

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/websub/hub/ledger"
)

// intent is a request that only counts when its callback says that it meant it.
type intent struct {
	mode    string
	lease   time.Duration
	version uint64 // that the topic had when it came
	ledger.Subscription
}

// ask has an intent verified behind the caller's back. Of one subscription only
// the newest request is asked for. The error is for who sent it.
func (h *Hub) ask(in *intent) error {
	key := ledger.KeyOf(in.Topic, in.Callback)
	h.mu.Lock()
	defer h.mu.Unlock()
	if waiting := h.intents[key]; waiting != nil {
		*waiting = *in
		return nil
	}
	if h.ctx == nil || len(h.intents) >= intents || h.asked[in.Host] >= ofHost*16 {
		return busy
	}
	h.intents[key] = in
	h.asked[in.Host]++
	ctx, host := h.ctx, in.Host // in may be another's before it begins
	h.running.Go(func() { h.settle(ctx, key, host) })
	return nil
}

// settle asks a callback for its word and does what it meant.
func (h *Hub) settle(ctx context.Context, key ledger.Key, host string) {
	select {
	case h.asking <- struct{}{}:
		defer func() { <-h.asking }()
	case <-ctx.Done():
	}
	h.mu.Lock()
	in := *h.intents[key]
	delete(h.intents, key)
	if h.asked[host]--; h.asked[host] == 0 {
		delete(h.asked, host)
	}
	h.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	if err := h.verify(ctx, &in); err != nil {
		h.hosts.Fine(time.Now(), in.Host, 10)
		h.silent.Fine(time.Now(), in.Callback, 1)
		h.cfg.Log.Debug("a callback did not confirm", "mode", in.mode, "host", in.Host, "err", err)
		return
	}
	h.silent.Fine(time.Now(), in.Callback, -2) // it is there after all
	if in.mode == "unsubscribe" {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.ledger.Remove(key)
		h.ended(&in.Subscription)
		return
	}
	in.Sent, in.Expires = in.version, time.Now().Add(in.lease)
	if err := h.keep(ctx, &in.Subscription); err != nil {
		h.cfg.Log.Warn("a subscription was confirmed and is not kept", "host", in.Host, "err", err)
		h.deny(ctx, &in.Subscription)
		return
	}
	if version, ok := h.cfg.Topics.Version(in.Topic); ok {
		h.mu.Lock()
		h.ledger.Behind(time.Now(), in.Topic, version) // what came while the callback was asked
		h.mu.Unlock()
		h.awake()
	}
}

// verify asks whether the callback meant it (section 5.3).
func (h *Hub) verify(ctx context.Context, in *intent) error {
	var random [24]byte
	_, _ = rand.Read(random[:]) // documented never to fail
	challenge := base64.RawURLEncoding.EncodeToString(random[:])
	q := url.Values{"hub.mode": {in.mode}, "hub.topic": {in.Topic}, "hub.challenge": {challenge}}
	if in.mode == "subscribe" {
		q.Set("hub.lease_seconds", strconv.FormatInt(int64(in.lease/time.Second), 10))
	}
	resp, err := h.get(ctx, in.Callback, q)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(len(challenge))+1))
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(body, []byte(challenge)) != 1 {
		return fmt.Errorf("the body is not the challenge")
	}
	return nil
}

// deny tells a callback that its subscription is over (section 5.2).
func (h *Hub) deny(ctx context.Context, s *ledger.Subscription) {
	q := url.Values{
		"hub.mode": {"denied"}, "hub.topic": {s.Topic}, "hub.reason": {"this hub does not serve the topic, or no longer"},
	}
	if resp, err := h.get(ctx, s.Callback, q); err == nil {
		drain(resp)
	}
}

// get asks a callback, whose own query stays as it is.
func (h *Hub) get(ctx context.Context, callback string, q url.Values) (*http.Response, error) {
	at := callback + "?" + q.Encode()
	if strings.Contains(callback, "?") {
		at = callback + "&" + q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	return h.cfg.Client.Do(req)
}

package hub

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/websub/hub/ledger"
)

const maxAnswer = 4 << 10 // of a callback's answer, which nobody reads

// deliver tells one subscriber, and the ledger how that went.
func (h *Hub) deliver(ctx context.Context, d *ledger.Delivery) {
	content, release, err := h.contents.get(ctx, d.Topic)
	defer release()
	outcome := ledger.Outcome{Verdict: ledger.Told, Version: content.Version}
	switch {
	case errors.Is(err, ErrGone):
		h.gone(d.Resource)
	case err != nil:
		h.cfg.Log.Warn("a hub's topic cannot be read: its subscribers are told later", "err", err)
		outcome.Verdict = ledger.Failed
	case content.Version != d.Sent:
		outcome = h.post(ctx, d, content)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ledger.Done(time.Now(), d, outcome) {
		h.cfg.Log.Debug("a hub's subscription ended", "callback host", d.Host)
		h.ended(&d.Subscription)
	} else if outcome.Verdict == ledger.Told && ctx.Err() == nil {
		h.unsaved[d.Key] = true
	}
	h.awake()
}

// post sends a content to a callback.
func (h *Hub) post(ctx context.Context, d *ledger.Delivery, c Content) ledger.Outcome {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.Callback, bytes.NewReader(c.Body))
	if err != nil {
		return ledger.Outcome{Verdict: ledger.Ended} // it was read once: the limits have changed since
	}
	req.Header.Set("Content-Type", c.Type)
	req.Header.Set("Link", "<"+h.cfg.Peer.HubAddress()+`>; rel="hub", <`+d.Topic+`>; rel="self"`)
	if d.Secret != "" {
		req.Header.Set("X-Hub-Signature", "sha256="+sign(d.Secret, c.Body))
	}
	resp, err := h.cfg.Client.Do(req)
	if err != nil {
		h.cfg.Log.Debug("a subscriber was not told", "host", d.Host, "err", err)
		return ledger.Outcome{Verdict: ledger.Failed}
	}
	drain(resp)
	switch {
	case resp.StatusCode == http.StatusGone:
		return ledger.Outcome{Verdict: ledger.Ended}
	case resp.StatusCode/100 == 2:
		return ledger.Outcome{Verdict: ledger.Told, Version: c.Version}
	}
	h.cfg.Log.Debug("a subscriber was not told", "host", d.Host, "status", resp.StatusCode)
	return ledger.Outcome{Verdict: ledger.Failed, RetryAfter: retryAfter(resp.Header)}
}

func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write(body) // documented never to fail
	return hex.EncodeToString(mac.Sum(nil))
}

// drain reads a short answer to its end, so that the connection can be used
// again, and closes it.
func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer)
	_ = resp.Body.Close()
}

// retryAfter reads seconds. Dates are rare, and the back-off serves as well.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(strings.TrimSpace(h.Get("Retry-After")), 10, 24)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// gone ends all subscriptions to a resource that is no more, and tells their
// callbacks, once.
func (h *Hub) gone(resource string) {
	h.mu.Lock()
	ended := h.ledger.Gone(resource)
	for i := range ended {
		h.ended(&ended[i])
	}
	ctx := h.ctx
	h.mu.Unlock()
	if ctx == nil || len(ended) == 0 {
		return
	}
	for part := range intentsOnce { // each sends a part of them, one after the other
		if part >= len(ended) {
			break
		}
		h.running.Go(func() {
			for i := part; i < len(ended) && ctx.Err() == nil; i += intentsOnce {
				h.deny(ctx, &ended[i])
			}
		})
	}
}

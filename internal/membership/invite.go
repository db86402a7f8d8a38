package membership

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/charters"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// What an invitation may be.
const (
	MaxValid = 366 * 24 * time.Hour
	MaxUses  = 10_000
	ownAddrs = 3                   // of a code
	maxCodes = 1000                // kept
	keepOld  = 30 * 24 * time.Hour // so that its holder is told why it is of no use
)

// Errors of invitations.
var (
	ErrMayNotAdmit = errors.New("this peer has no credential that lets it admit others")
	ErrManyCodes   = errors.New("too many invitations are open")
	ErrNoNeed      = errors.New("nobody needs a credential in this network, whose mode is vouched: a site that names a peer lets it publish and serve")
)

// Invitation says what an invitation gives.
type Invitation struct {
	Rights charter.Rights
	Valid  time.Duration // of the code
	Uses   int
	Site   string // only a peer that this site names; empty: any
}

// invitation is one that this peer redeems.
type invitation struct {
	Key     feedring.PeerID   `json:"key"` // of the one-time key
	Rights  charter.Rights    `json:"rights"`
	Expires time.Time         `json:"expires"`
	Uses    int               `json:"uses"` // left
	Site    string            `json:"site,omitempty"`
	Holders []feedring.PeerID `json:"holders,omitempty"` // who redeemed it: one whose answer was lost asks again
}

// Invite returns the code of a new invitation, which only this peer redeems, at addrs.
func (k *Keeper) Invite(what Invitation, addrs []string) (string, error) {
	if k.isVouched() {
		return k.guide(what, addrs)
	}
	if !k.Self().Rights.Has(charter.Admit) {
		return "", ErrMayNotAdmit
	}
	key, err := identity.New()
	if err != nil {
		return "", err
	}
	id, err := idOf(key)
	if err != nil {
		return "", err
	}
	now := time.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	codes := slices.DeleteFunc(slices.Clone(k.codes), func(i invitation) bool { return i.Expires.Add(keepOld).Before(now) })
	if len(codes) >= maxCodes {
		return "", ErrManyCodes
	}
	// Other peers' addresses are for later: this one may be away then.
	addrs = append(slices.Clone(addrs[:min(len(addrs), ownAddrs)]), k.addrs...)
	codes = append(codes, invitation{Key: id, Rights: what.Rights & charter.Invited, Expires: now.Add(what.Valid), Uses: what.Uses, Site: what.Site})
	if err := writeJSON(k.data, codesFile, codes); err != nil {
		return "", fmt.Errorf("invitations: %w", err)
	}
	k.codes = codes
	return charters.Code{Charter: k.charter.Load(), Addrs: addrs, Key: key}.String(), nil
}

// guide returns a code of the mode vouched: it leads to the network, and nobody needs
// its key.
func (k *Keeper) guide(what Invitation, addrs []string) (string, error) {
	if what.Site != "" || what.Rights == charter.Read {
		return "", ErrNoNeed
	}
	key, err := identity.New()
	if err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	addrs = append(slices.Clone(addrs[:min(len(addrs), ownAddrs)]), k.addrs...)
	return charters.Code{Charter: k.charter.Load(), Addrs: addrs, Key: key}.String(), nil
}

// redeem gives the holder of an invitation its credential. What is used up is on disk
// before the credential is signed.
func (k *Keeper) redeem(holder, key feedring.PeerID) feedringv1.HelloRefusal {
	find := func() (int, invitation, feedringv1.HelloRefusal) {
		i := slices.IndexFunc(k.codes, func(c invitation) bool { return c.Key == key })
		if i < 0 || !k.Self().Rights.Has(charter.Admit) {
			return 0, invitation{}, feedringv1.HelloRefusal_HELLO_REFUSAL_UNKNOWN
		}
		code := k.codes[i]
		switch {
		case time.Now().After(code.Expires):
			return i, code, feedringv1.HelloRefusal_HELLO_REFUSAL_EXPIRED
		case code.Uses <= 0 && !slices.Contains(code.Holders, holder):
			return i, code, feedringv1.HelloRefusal_HELLO_REFUSAL_USED_UP
		}
		return i, code, feedringv1.HelloRefusal_HELLO_REFUSAL_UNSPECIFIED
	}
	k.mu.Lock()
	_, code, refusal := find()
	k.mu.Unlock()
	if refusal != feedringv1.HelloRefusal_HELLO_REFUSAL_UNSPECIFIED {
		return refusal
	}
	if code.Site != "" && (k.sites == nil || !k.sites.Names(code.Site, holder)) {
		return feedringv1.HelloRefusal_HELLO_REFUSAL_SITE
	}
	if k.Roll().Barred(holder, time.Now()) {
		return feedringv1.HelloRefusal_HELLO_REFUSAL_EXPELLED
	}
	k.mu.Lock()
	i, code, refusal := find()
	if refusal == feedringv1.HelloRefusal_HELLO_REFUSAL_UNSPECIFIED && !slices.Contains(code.Holders, holder) {
		codes := slices.Clone(k.codes)
		codes[i].Uses--
		codes[i].Holders = append(slices.Clone(code.Holders), holder)
		if err := writeJSON(k.data, codesFile, codes); err != nil {
			k.log.Error("an invitation was not redeemed", "err", err)
			refusal = feedringv1.HelloRefusal_HELLO_REFUSAL_UNKNOWN
		} else {
			k.codes = codes
		}
	}
	k.mu.Unlock()
	now := time.Now()
	has, _ := k.Roll().Rights(holder, now)
	if refusal != feedringv1.HelloRefusal_HELLO_REFUSAL_UNSPECIFIED || has.Has(code.Rights) {
		return refusal
	}
	s, err := Credential(k.sealer.Load(), charter.Credential{Subject: holder, Rights: code.Rights, NotBefore: now, Expires: now.Add(Lifetime)})
	if err == nil {
		_, err = k.Merge([]charter.Statement{s})
	}
	if err != nil {
		k.log.Error("an invitation was not redeemed", "err", err)
		return feedringv1.HelloRefusal_HELLO_REFUSAL_UNKNOWN
	}
	k.log.Info("admitted by invitation", "peer", holder, "rights", code.Rights.List(), "site", code.Site)
	return refusal
}

// Joinable reports why a data directory cannot join by a code, as far as that is known
// without asking anybody: ErrCode, or an *OtherError.
func Joinable(data, text string) error {
	code, err := charters.ParseCode(text)
	if err != nil {
		return err
	}
	return mayBecome(data, code.Charter.Network())
}

// Join redeems a code: it makes a data directory that belongs to the code's network.
// What it returns was on disk before. A *RefusedError says why the code is of no use.
func Join(ctx context.Context, data, text string) (*Keeper, error) {
	code, err := charters.ParseCode(text)
	if err != nil {
		return nil, err
	}
	if err := mayBecome(data, code.Charter.Network()); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	k, err := open(data, code.Charter)
	if err != nil {
		return nil, err
	}
	if k.isVouched() {
		k.addrs = code.Addrs
		return k, k.keep()
	}
	k.data = "" // nothing is kept before a peer answered
	key, err := wire.NewSealer(code.Key, k.network)
	if err != nil {
		return nil, err
	}
	h, err := host.New(ctx, host.Config{Dir: data, Network: k.network, Client: true, Door: k})
	if err != nil {
		return nil, err
	}
	defer h.Close()
	var failed error
	for _, addr := range code.Addrs {
		if peerOf(addr) != peerOf(code.Addrs[0]) {
			break
		}
		if failed = k.redeemAt(ctx, h, addr, key); failed == nil {
			break
		}
		if _, decided := IsRefused(failed); decided {
			return nil, failed
		}
	}
	if failed != nil || len(code.Addrs) == 0 {
		return nil, &NobodyError{Addrs: code.Addrs[:min(len(code.Addrs), 1)], Err: failed}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.data, k.addrs = data, code.Addrs
	return k, k.keep()
}

// Adopt makes a data directory belong to the network of a charter. In the mode closed its peer
// waits for a credential.
func Adopt(data string, c *charter.Charter) error {
	if is, err := NetworkOf(data); err != nil || is == c.Network() {
		return err
	}
	if err := mayBecome(data, c.Network()); err != nil {
		return err
	}
	if err := write(data, charterFile, c.Text); err != nil {
		return fmt.Errorf("charter: %w", err)
	}
	return nil
}

// keep writes down that the data directory belongs to the network.
func (k *Keeper) keep() error {
	err := writeRoll(k.data, k.Roll())
	if err == nil {
		err = writeJSON(k.data, addrsFile, k.addrs)
	}
	if err == nil {
		err = write(k.data, charterFile, k.charter.Load().Text)
	}
	return err
}

// peerOf is the id at the end of a peer's address.
func peerOf(addr string) string { return addr[strings.LastIndex(addr, "/")+1:] }

// NobodyError is for an invitation that nobody answered.
type NobodyError struct {
	Addrs []string
	Err   error // of the last address
}

// Unwrap returns what went wrong at the last address.
func (e *NobodyError) Unwrap() error { return e.Err }

// Error implements error.
func (e *NobodyError) Error() string {
	return fmt.Sprintf("the peer that gave this invitation does not answer at %v, and only it gives the credential", e.Addrs)
}

func (k *Keeper) redeemAt(ctx context.Context, h *host.Host, addr string, key *wire.Sealer) error {
	to, err := h.Given(addr)
	if err != nil {
		return err
	}
	s, err := h.Open(ctx, to, wire.VerbHello, true)
	if err != nil {
		return err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { _ = s.Reset() })()
	return k.greet(ctx, to, s, k.proof(), key)
}

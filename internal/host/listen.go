package host

import (
	"context"
	"errors"
	"net"
	"slices"
	"syscall"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/addr"
)

// openPorts listens on every address of the configuration. One that fails
// fails the start: a peer that quietly listens on half of what it was told
// would be a riddle. Only IPv6 may be missing where nobody asked for it.
func (h *Host) openPorts(ctx context.Context) error {
	for _, a := range h.listen {
		err := probeTCP(ctx, a)
		if err == nil {
			err = h.lib.Network().Listen(a)
			err = explainListen(a, err)
		}
		if err != nil && len(h.cfg.Listen) == 0 && addr.IsIPv6(a) && !errors.Is(err, ErrPortTaken) {
			h.log.Debug("no IPv6", "addr", a, "err", err)
			continue
		}
		if err != nil {
			return &feedring.SettingError{Setting: "listen", Value: a, Err: err}
		}
	}
	return nil
}

// What keeps a host from listening at an address.
var (
	ErrPortTaken  = errors.New("the port is in use by another program")
	ErrPortDenied = errors.New("this user may not use that port")
)

// probeTCP finds out whether a TCP port is taken. libp2p shares its TCP port
// with whoever asks in the same way (SO_REUSEPORT, needed to cross NATs), so
// its own listening would succeed beside another peer of the same user.
func probeTCP(ctx context.Context, a ma.Multiaddr) error {
	network, address, err := manet.DialArgs(a)
	if err != nil || (network != "tcp4" && network != "tcp6") {
		return nil
	}
	var cfg net.ListenConfig
	l, err := cfg.Listen(ctx, network, address)
	if err != nil {
		return explainListen(a, err)
	}
	return l.Close()
}

// explainListen finds the cause of a failure, which libp2p hides, by trying
// again.
func explainListen(a ma.Multiaddr, err error) error {
	if err == nil {
		return nil
	}
	cause := err
	if network, address, e := manet.DialArgs(a); e == nil && (network == "udp4" || network == "udp6") {
		if c, e := net.ListenPacket(network, address); e != nil {
			cause = e
		} else {
			_ = c.Close()
		}
	}
	switch {
	case errors.Is(cause, syscall.EADDRINUSE):
		return ErrPortTaken
	case errors.Is(cause, syscall.EADDRNOTAVAIL):
		return errors.New("this machine does not have that address")
	case errors.Is(cause, syscall.EACCES):
		return ErrPortDenied
	}
	return cause
}

// announced decides which of the addresses that libp2p found are told to others: it
// is libp2p's AddrsFactory, so identify and the address book tell the same.
func (h *Host) announced(found []ma.Multiaddr) []ma.Multiaddr {
	if len(h.announce) > 0 {
		return slices.Clone(h.announce)
	}
	return h.scope.Filter(found)
}

// Addrs returns the addresses that this host tells others, complete with its
// id. It may be empty: a peer behind a NAT knows none until others told it how
// they see it or a relay took it. Addresses come and go.
func (h *Host) Addrs() []string { return h.complete(h.scope.Filter(h.lib.Addrs())) }

// Listening returns the addresses at which a person can reach this host now,
// for a paste behind --join or --peer: those told to others, then all that
// this machine has, private and loopback ones included.
func (h *Host) Listening() []string {
	addrs := slices.Clone(h.lib.Addrs())
	local, err := h.lib.Network().InterfaceListenAddresses()
	if err != nil {
		h.log.Debug("interfaces", "err", err)
	}
	local = slices.DeleteFunc(local, func(a ma.Multiaddr) bool { return addr.KindOf(a) == addr.Other })
	slices.SortStableFunc(local, func(a, b ma.Multiaddr) int { return int(addr.KindOf(a)) - int(addr.KindOf(b)) })
	return h.complete(append(addrs, local...))
}

func (h *Host) complete(addrs []ma.Multiaddr) []string {
	out := make([]string, 0, len(addrs))
	for _, a := range ma.Unique(addrs) {
		bare, _ := ma.SplitLast(a)
		if v, err := a.ValueForProtocol(ma.P_P2P); err == nil && v == h.lib.ID().String() && bare != nil {
			out = append(out, a.String())
			continue
		}
		out = append(out, a.String()+"/p2p/"+h.lib.ID().String())
	}
	return out
}

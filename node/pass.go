package node

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/pass"
	"github.com/feedring/feedring/node/internal/transport"
)

// listenForPassed carries readers' streams to other peers, and serves those that come so. On
// a network with a charter nobody does: a key that is made for one theme has no credential.
func (n *Node) listenForPassed() {
	if n.members != nil {
		return
	}
	p := pass.New(n.ctx, pass.Config{
		Self: n.ID(), Key: n.host.PrivateKey(), Network: n.cfg.Network, Most: n.cfg.Pass, Host: n.host, Views: n.loop, Blocks: n.blocks, Server: n.server,
		Counts: &n.refused, Log: n.log,
		Serves: map[feedring.Verb]transport.Handler{
			wire.VerbAsk:    transport.HandlerFunc(n.readers.ServeSealedAsk),
			wire.VerbAttach: transport.HandlerFunc(n.readers.ServeAttach),
			wire.VerbInfo:   transport.HandlerFunc(n.ServeInfo),
		},
	})
	n.server.Handle(wire.VerbPass, transport.Bound{All: n.cfg.Pass + 32, Each: 2 * pass.EachAddress}, transport.HandlerFunc(p.ServePass))
	n.server.Handle(wire.VerbSealed, transport.Bound{All: 128, Each: 32}, transport.HandlerFunc(p.ServeSealed))
}

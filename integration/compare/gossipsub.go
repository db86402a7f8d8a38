package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	remote "github.com/libp2p/go-libp2p/core/peer"
)

const gossipRole = "gossip-host"

// gossipMain is the process of one GossipSub host with so many subscribers. It
// prints its address, and then the subscriber and the stamp of each message that
// one is given. Until its input ends it takes a command from each line: "connect
// ADDR" or "publish TEXT".
func gossipMain(subscribers string) {
	ctx := context.Background()
	h := must(libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/udp/0/quic-v1"), libp2p.DisableRelay()))
	topic := must(must(pubsub.NewGossipSub(ctx, h)).Join(subject)) // it signs messages, and checks them, by default
	fmt.Printf("%s/p2p/%s\n", h.Addrs()[0], h.ID())
	for i := range must(strconv.Atoi(subscribers)) {
		sub := must(topic.Subscribe())
		go func() {
			for {
				m, err := sub.Next(ctx)
				if err != nil {
					return
				}
				stamp, _, _ := strings.Cut(string(m.Data), " ")
				fmt.Printf("%d %s\n", i, stamp)
			}
		}()
	}
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		switch name, rest, _ := strings.Cut(commands.Text(), " "); name {
		case "connect":
			check(h.Connect(ctx, *must(remote.AddrInfoFromString(rest))))
		case "publish":
			check(topic.Publish(ctx, []byte(rest)))
		}
	}
}

// gossipHosts starts hosts that are all connected, with the subscribers spread
// over them, and returns how the first one publishes.
func (b *bench) gossipHosts(got *arrivals) (publish func(message string)) {
	var addrs []string
	for i := range b.peers {
		addr := make(chan string, 1)
		subscribers := (b.readers + b.peers - 1 - i) / b.peers
		p := b.start(func(line string) {
			if strings.HasPrefix(line, "/") {
				addr <- line
				return
			}
			reader, _, _ := strings.Cut(line, " ")
			got.add(fmt.Sprintf("%d/%s", i, reader), line, i == 0)
		}, must(os.Executable()), gossipRole, strconv.Itoa(subscribers))
		b.until(startWithin, "a GossipSub host", func() bool { return len(addr) > 0 })
		for _, other := range addrs {
			must(fmt.Fprintln(p.in, "connect", other))
		}
		addrs = append(addrs, <-addr)
	}
	first := b.running[0]
	return func(message string) { must(fmt.Fprintln(first.in, "publish", message)) }
}

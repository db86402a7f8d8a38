package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	natsRole = "nats-server"
	replicas = 3
	subject  = "news"
	inFlight = 4096 // messages sent before the first is acknowledged
)

// natsMain is the process of one NATS server.
func natsMain(config string) {
	o := must(server.ProcessConfigFile(config))
	o.NoLog = true
	s := must(server.NewServer(o))
	check(server.Run(s))
	s.WaitForShutdown() // SIGTERM
}

// natsServers starts one server, or a cluster. Messages are in files, and each
// write is synced, as feedring's are.
func (b *bench) natsServers(count int) (urls []string) {
	var routes []string
	for range count {
		routes = append(routes, "nats://"+freeAddress())
	}
	for i := range count {
		address, name := freeAddress(), fmt.Sprintf("n%d", i)
		config := fmt.Sprintf("server_name: %s\nlisten: %q\njetstream { store_dir: %q, sync_interval: always }\n", name, address, filepath.Join(b.dir, name))
		if count > 1 {
			config += fmt.Sprintf("cluster { name: compare, listen: %q, routes: [%s] }\n", strings.TrimPrefix(routes[i], "nats://"), strings.Join(routes, ", "))
		}
		file := filepath.Join(b.dir, name+".conf")
		check(os.WriteFile(file, []byte(config), 0o600))
		b.start(func(string) {}, must(os.Executable()), natsRole, file)
		urls = append(urls, "nats://"+address)
	}
	return urls
}

// natsClient connects to a server.
func (b *bench) natsClient(url string) jetstream.JetStream {
	var c *nats.Conn
	b.until(startWithin, "a NATS server", func() (up bool) {
		var err error
		c, err = nats.Connect(url)
		return err == nil
	})
	b.closers = append(b.closers, c.Close)
	return must(jetstream.New(c, jetstream.WithPublishAsyncMaxPending(inFlight)))
}

// natsStream makes the stream, as soon as the cluster has a leader for it.
func (b *bench) natsStream(js jetstream.JetStream, replicas int) (s jetstream.Stream) {
	config := jetstream.StreamConfig{Name: subject, Subjects: []string{subject}, Storage: jetstream.FileStorage, Replicas: replicas}
	b.until(startWithin, "a stream", func() bool {
		ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
		defer cancel()
		var err error
		s, err = js.CreateOrUpdateStream(ctx, config)
		return err == nil
	})
	return s
}

// natsReader connects a client, whose ordered consumer gives every message to
// each.
func (b *bench) natsReader(url string, each func(data []byte)) {
	js := b.natsClient(url)
	ctx, cancel := context.WithTimeout(b.ctx, startWithin)
	defer cancel()
	consumer := must(js.OrderedConsumer(ctx, subject, jetstream.OrderedConsumerConfig{}))
	must(consumer.Consume(func(m jetstream.Msg) { each(m.Data()) }))
}

// natsHold reports whether all replicas hold so many messages.
func (b *bench) natsHold(s jetstream.Stream, messages int) bool {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	info, err := s.Info(ctx)
	return err == nil && info.State.Msgs == uint64(messages) && info.Cluster != nil &&
		!slices.ContainsFunc(info.Cluster.Replicas, func(r *jetstream.PeerInfo) bool { return !r.Current || r.Lag > 0 })
}

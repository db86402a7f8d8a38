package main

import "fmt"

// atRest watches a peer alone and a NATS server alone while nothing happens.
func (b *bench) atRest() {
	const feeds, entries = 20, 50
	what := fmt.Sprintf("alone and at rest for %s (feedring: %d feeds at an hour, its page on)", b.rest, feeds)
	b.inTurn(what, side{feedring, func() {
		o := b.origin(feeds, entries)
		for i := range feeds * (entries - 1) {
			o.add(i%feeds, fmt.Sprintf("entry %d", i), text(i))
		}
		b.group(1, o)
		b.watch(feedring, what)
	}}, side{jetStream, func() {
		js := b.natsClient(b.natsServers(1)[0])
		b.natsStream(js, 1)
		js.Conn().Close()
		b.watch(jetStream, what)
	}})
}

func (b *bench) watch(side, what string) {
	b.wait(b.settle)
	used := use(b.pids(), func() { b.wait(b.rest) })
	b.table.add(side, what, "CPU, %", 100*used.cpu.Seconds()/used.took.Seconds())
	b.table.add(side, what, "voluntary switches a second", used.waits/used.took.Seconds())
}

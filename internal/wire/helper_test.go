package wire_test

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire/wiretest"
)

func sampleTicket(client, provider feedring.PeerID) feedring.Ticket {
	return feedring.Ticket{
		ID: feedring.QueryID{1, 2}, Attempt: 3, Group: feedring.Theme("news").Group(), Client: client,
		Peers: []feedring.PeerID{provider}, Expiry: wiretest.Noon.Add(1234 * time.Microsecond),
	}
}

func randomText(r *rand.Rand, most int) string {
	const letters = "abc é漢<>/ \U0001F600\n"
	runes := []rune(letters)
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteRune(runes[r.IntN(len(runes))])
	}
	return b.String()
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// arrival is an entry that reached the reader.
type arrival struct {
	entry feedring.Entry
	at    time.Time
}

// read follows all groups at one peer, until ctx ends. A stream that breaks is
// taken up where it stood.
func read(ctx context.Context, base string, arrivals chan<- arrival) {
	var last string
	for ctx.Err() == nil {
		readStream(ctx, base, &last, arrivals)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func readStream(ctx context.Context, base string, last *string, arrivals chan<- arrival) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/v1/stream?limit=1", nil)
	if err != nil {
		return
	}
	req.Header.Set("Last-Event-ID", *last)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 2<<20)
	for isEntry := false; lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			isEntry = value == "entry"
		case "id":
			*last = value
		case "data":
			a := arrival{at: time.Now()}
			if !isEntry || json.Unmarshal([]byte(value), &a.entry) != nil {
				continue
			}
			select {
			case arrivals <- a:
			case <-ctx.Done():
				return
			}
		}
	}
}

// tally counts what was published and what of it was read.
type tally struct {
	published int
	read      map[feedring.EntryID]bool
	slowest   time.Duration
	total     time.Duration
}

// take counts an entry that was published after; it tells whether it is new.
func (t *tally) take(a arrival, published time.Time) bool {
	if t.read[a.entry.ID] {
		return false
	}
	t.read[a.entry.ID] = true
	delay := a.at.Sub(published)
	t.total += delay
	t.slowest = max(t.slowest, delay)
	return true
}

func (t *tally) String() string {
	if len(t.read) == 0 {
		return fmt.Sprintf("published %d, read none yet", t.published)
	}
	return fmt.Sprintf("published %d, read %d; from origin to reader %.1f s on average, %.1f s at most",
		t.published, len(t.read), (t.total / time.Duration(len(t.read))).Seconds(), t.slowest.Seconds())
}

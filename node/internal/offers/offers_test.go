package offers

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

const testTheme feedring.Theme = "news"

// catalogue is a machine's side of offers: it counts what changed by now, and keeps
// what was told of it.
type catalogue struct {
	mu      sync.Mutex
	changes int
	slow    time.Duration // between asking and posting
	told    []int
}

func (c *catalogue) change() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
}

func (c *catalogue) Offered() peer.Offer {
	c.mu.Lock()
	feeds, slow := make([]feedring.Feed, c.changes), c.slow
	c.slow = 0 // the first only
	c.mu.Unlock()
	time.Sleep(slow)
	return peer.Offer{Feeds: map[feedring.Theme][]feedring.Feed{testTheme: feeds}}
}

func (c *catalogue) Post(in peer.Input) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, len(in.(peer.Offer).Feeds[testTheme]))
	return true
}

func (c *catalogue) Run(f func()) bool { go f(); return true }

func offersOf(ctx context.Context, c *catalogue) *Offers {
	return New(ctx, c, c, c)
}

// TestTheNewestOfferComesLast: a feed is added while an offer without it is on its way
// to the machine, which must not take that one for the newest.
func TestTheNewestOfferComesLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &catalogue{slow: time.Second}
		o := offersOf(t.Context(), c)
		go o.Now()
		synctest.Wait()
		c.change()
		o.Now()
		synctest.Wait()
		time.Sleep(time.Minute)
		if last := c.told[len(c.told)-1]; last != 1 || len(c.told) != 2 {
			t.Errorf("told of %v changes", c.told)
		}
	})
}

// TestTitlesOfManyFeedsAreFewOffers: 5,000 feeds of an import find their titles in ten
// seconds. The first is told at once, the last within a second, and between them
// one offer a second.
func TestTitlesOfManyFeedsAreFewOffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &catalogue{}
		o := offersOf(t.Context(), c)
		const feeds = 5000
		for n := range feeds {
			c.change()
			o.Soon()
			if n == 0 {
				synctest.Wait()
				if len(c.told) != 1 {
					t.Errorf("the first title was not told of at once")
				}
			}
			time.Sleep(2 * time.Millisecond)
		}
		time.Sleep(every)
		synctest.Wait()
		if len(c.told) > 12 || c.told[len(c.told)-1] != feeds {
			t.Errorf("%d offers, of %v feeds", len(c.told), c.told)
		}
	})
}

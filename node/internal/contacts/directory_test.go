package contacts

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/node/internal/tasks"
)

// fakeBook is an address book whose Provide takes a while.
type fakeBook struct {
	AddressBook
	mu       sync.Mutex
	provided map[feedring.GroupID]bool
	times    int
}

func (b *fakeBook) Provide(ctx context.Context, g feedring.GroupID) error {
	time.Sleep(time.Second) // virtual
	b.mu.Lock()
	defer b.mu.Unlock()
	b.provided[g] = true
	b.times++
	return errors.New("nobody answers")
}

func (b *fakeBook) Unprovide(g feedring.GroupID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.provided, g)
}

// TestProvidedNoLongerThanInside leaves a group while it is being provided.
func TestProvidedNoLongerThanInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := &fakeBook{provided: make(map[feedring.GroupID]bool)}
		d := NewDirectory(t.Context(), book, nil, &tasks.Group{}, slog.New(slog.DiscardHandler))
		a, b := feedring.Theme("news").Group(), feedring.Theme("sport").Group()
		d.Enter(a)
		d.Enter(a) // another role
		d.Enter(b)
		synctest.Wait()
		d.Leave(b)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !book.provided[a] || book.provided[b] || book.times != 2 {
			t.Errorf("provided %v, asked %d times", book.provided, book.times)
		}
		d.Leave(a)
		if len(book.provided) != 0 {
			t.Errorf("provided %v", book.provided)
		}
	})
}

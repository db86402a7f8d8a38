package replicate

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// maxPlainAnswer is what is packed to see whether it fits into a notify: texts deflate to
// about a third.
const maxPlainAnswer = 4 * group.MaxAnswer

// Answer is what a poll of a feed after a position is answered, as bytes of a whole part
// that go to all members with the notify. It is nil where they are too many, or where
// nothing can be read. Members prune the entry at that position when it is not fresh any
// more, some of them earlier: what is packed with it they could not unpack.
func (r *Replicator) Answer(ref feedring.FeedRef, after feedring.Position) []byte {
	part, _, more, err := r.pollPart(ref, after, time.Time{}, !after.IsZero())
	if err != nil || more || len(part.Items) == 0 || proto.Size(part) > maxPlainAnswer {
		return nil
	}
	words := dictionaryAt(r.Store, ref, after)
	named := words.Name()
	if before, err := r.Store.Get(ref, after); err != nil || before.Seen.Before(time.Now().Add(-r.Freshness/2)) {
		named = words.Bare().Name()
	}
	if err := r.packer.Pack(part, words, named); err != nil {
		return nil
	}
	b, err := proto.Marshal(part)
	if err != nil || len(b) > group.MaxAnswer {
		return nil
	}
	return b
}

// take checks and stores an answer that came with a notify, as one that was polled. Its
// sender needs no sign of life, so a wrong answer costs it no connection: the machine
// counts it, and polls.
func (r *Replicator) take(o group.Fetch) (group.Fetched, error) {
	got := nothing(o)
	var part feedringv1.PollPart
	if err := wire.Unmarshal(o.Answer, &part); err != nil {
		return got, err
	}
	if err := r.packer.Unpack(&part, dictionaryAt(r.Store, o.Feed, o.After)); err != nil {
		return got, err
	}
	return got, r.accept(r.ctx, o, &part, time.Time{}, &got)
}

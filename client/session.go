package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client/internal/truth"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/match/stem"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/chain"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	// hedgeAfter is how long one provider may be silent at first before the
	// next is tried as well. The first that speaks serves.
	hedgeAfter  = 500 * time.Millisecond
	attachOpen  = 6 * time.Second // for one provider to be connected to and to speak, at most
	firstFrame  = 3 * time.Second // of it, to speak: a dead connection opens streams all the same
	silence     = 4 * time.Second // a provider gives a sign of life every two at least
	renewEvery  = 3 * time.Second // below the lease of a provider
	writeWithin = 5 * time.Second
)

// Why a session ended.
var (
	errForged    = errors.New("it sent an entry with a wrong signature")
	errStray     = errors.New("it sent an entry that was not asked for")
	errNobody    = errors.New("no provider of the grant serves")
	errWholeDone = errors.New("the answer is whole") // of a session that does not follow
)

// session reads from one provider of one grant, chosen among several. It is a
// goroutine that reports to a round and decides nothing.
type session struct {
	client *Client
	grant  feedring.Grant
	want   wire.Attach // without ticket and own
	events chan<- event
	live   <-chan struct{} // closed when what is new may flow
	cancel context.CancelFunc
	aim    aim
	by     feedring.PeerID // who gave its first answer, once that is whole; the round writes it
	check  *firstAnswer    // of the first answer that it gives or is compared with; nil: it is not checked

	expected map[uint64]bool // of a second: what the first should have had; nil: all that it gives
	// skip lists providers that failed or sent what they must not.
	skip map[feedring.PeerID]bool

	// stems chooses again what a provider chose by stems, and chooses where the
	// provider could not: one of a version before. Nil: words are as written.
	stems   *stem.Matcher
	matched int           // entries that have the words
	proof   bool          // one of them at least should be at every provider
	answer  *truth.Answer // until it is whole
	items   int           // that came
	bytes   int           // of all that came
}

// aim is what a session is for.
type aim uint8

const (
	serves    aim = iota // it gives what the round wants
	confirms             // it confirms or refutes another's first answer
	summaries            // it tells what another should have, and gives nothing
)

// summaryWithin is how long a summary may take, which nobody waits for longer.
const summaryWithin = time.Second

// event is something that a session tells its round, in order: at most one of
// the fields after served is set, none for a sign of life, or an entry and the mark
// after it.
type event struct {
	session *session
	served  feedring.PeerID
	entry   *feedring.Entry
	mark    feedring.Cursor
	caught  bool
	partial bool // with caught: there may be more that matches, which this provider cannot find
	entries int  // with caught: how many came that match
	full    bool // with caught: as many came as were asked for, so older ones may have been left out
	proof   bool // with caught: one of them at least should be everywhere
	ended   error

	item   *feedring.Hint  // an entry that came, whether or not it is of use
	answer *truth.Answer   // with caught: what came
	hints  []feedring.Hint // with caught, of a summary; nil: it was not told
}

// providers lists who may serve, the assigned one first, unless it kept entries back.
func (s *session) providers() []feedring.PeerInfo {
	all := candidates(&s.grant)
	if s.grant.Own { // nobody else has the publisher's whole history
		all = all[:1]
	}
	all = slices.DeleteFunc(all, func(p feedring.PeerInfo) bool { return s.skip[p.ID] })
	if s.aim == serves {
		s.client.askedLast.last(all, time.Now())
		return all
	}
	// Managers name the least loaded first, and themselves last: who wants to be asked tells
	// no load, and may not be alone in that.
	slices.Reverse(all)
	rest := all
	if seal := s.grant.Ticket.Seal; len(all) > 0 && seal != nil && all[0].ID == seal.Signer {
		// It is trusted with the grant already, and nobody can make up an entry that puts it last.
		rest = all[1:]
	}
	s.client.askedLast.last(rest, time.Now())
	return all
}

// patience is how long a provider may be silent before the next is asked beside it. Who
// confirms an empty answer is not to be chosen by who is fastest.
func (s *session) patience() time.Duration {
	if s.aim == confirms {
		return firstFrame
	}
	return hedgeAfter
}

// candidates are the peers that a grant names, the assigned one first.
func candidates(g *feedring.Grant) []feedring.PeerInfo {
	return append([]feedring.PeerInfo{g.Provider}, g.Alternates...)
}

// run serves the round until ctx ends. It always reports its end, unless the
// round is gone.
func (s *session) run(ctx context.Context) {
	var e event
	within, cancel := ctx, context.CancelFunc(func() {})
	if s.aim == summaries {
		within, cancel = context.WithTimeout(ctx, summaryWithin)
	}
	defer cancel()
	a, err := s.attach(within)
	if err == nil {
		e.served = a.peer.ID
		err = s.pump(within, a)
		a.end(err)
	}
	e.ended = err
	s.report(ctx, e)
}

// report blocks until the round takes the event: so a slow reader slows its
// provider, and nothing piles up between.
func (s *session) report(ctx context.Context, e event) bool {
	e.session = s
	select {
	case s.events <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// attach tries the providers one after the other, the next when one is silent
// or refuses. The first that speaks is returned; others are let go.
func (s *session) attach(ctx context.Context) (*attachment, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	providers := s.providers()
	results := make(chan attachResult)
	pause := time.NewTicker(s.patience())
	defer pause.Stop()
	tried, failed, last := 0, 0, errNobody
	tryNext := func() {
		if tried < len(providers) {
			s.try(ctx, providers[tried], results)
			tried++
			pause.Reset(s.patience())
		}
	}
	for failed < len(providers) {
		if tried == failed {
			tryNext()
		}
		select {
		case r := <-results:
			if r.err == nil {
				return r.attachment, nil
			}
			failed, last = failed+1, worse(last, r.err)
			s.client.log.Debug("provider not used", "peer", r.peer, "theme", s.grant.Theme, "err", r.err)
		case <-pause.C:
			tryNext()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, last
}

type attachResult struct {
	peer       feedring.PeerID
	attachment *attachment
	err        error
}

func (s *session) try(ctx context.Context, p feedring.PeerInfo, results chan<- attachResult) {
	go func() {
		opening, cancel := context.WithTimeout(ctx, attachOpen)
		defer cancel()
		a, err := s.open(opening, p)
		select {
		case results <- attachResult{p.ID, a, err}:
		case <-ctx.Done():
			if a != nil {
				a.end(ctx.Err())
			}
		}
	}()
}

// attachment is an open stream from a provider that has spoken.
type attachment struct {
	peer   feedring.PeerInfo
	raw    Stream
	stream *wire.Stream
	first  wire.Frame
}

// end gives the stream back: in good order where the provider said everything.
func (a *attachment) end(err error) {
	if errors.Is(err, errWholeDone) {
		_ = a.raw.Close()
		return
	}
	_ = a.raw.Reset()
}

// open connects, presents the ticket, and waits for the provider's first word.
func (s *session) open(ctx context.Context, p feedring.PeerInfo) (*attachment, error) {
	s.client.transport.Learn(p.ID, p.Addrs)
	raw, err := s.client.transport.Open(ctx, p.ID, wire.VerbAttach)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Reset() })
	a := &attachment{peer: p, raw: raw, stream: wire.NewStream(raw)}
	want := s.want
	want.Ticket, want.Own = s.grant.Ticket, s.grant.Own
	err = a.stream.Send(wire.AttachTo(want), writeWithin)
	if err == nil {
		a.first, err = a.next(firstFrame)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = raw.Reset()
		return nil, err
	}
	return a, nil
}

// pump reports everything that the provider sends. Entries that came together
// are checked together: that takes longer than anything else.
func (s *session) pump(ctx context.Context, a *attachment) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = a.raw.Reset() })()
	if s.want.Follow {
		go a.renew(ctx)
	}
	frame, err := a.first, error(nil)
	var frames []wire.Frame
	for {
		if err == nil {
			frames = append(frames, frame)
		}
		if err != nil || len(frames) == maxArrived || !a.stream.Buffered() {
			for _, one := range joined(s.opened(frames)) {
				if err := s.frame(ctx, a, &one); err != nil {
					return err
				}
			}
			clear(frames)
			frames = frames[:0]
		}
		if err != nil {
			return err
		}
		frame, err = a.next(silence)
	}
}

// maxArrived is how many frames wait at most while their entries are checked.
const maxArrived = 64

// arrival is a frame that was read and not reported yet.
type arrival struct {
	frame  wire.Frame
	opened chain.Opened // of its entry, if it has one
}

// opened checks the entries that came together.
func (s *session) opened(frames []wire.Frame) []arrival {
	arrived := make([]arrival, len(frames))
	var seals []*feedring.Seal
	for i, frame := range frames {
		if arrived[i].frame = frame; frame.Item != nil {
			seals = append(seals, frame.Item.Seal)
		}
	}
	opened := s.client.reader.Open(seals)
	for i := range arrived {
		if arrived[i].frame.Item != nil {
			arrived[i].opened, opened = opened[0], opened[1:]
		}
	}
	return arrived
}

// joined puts a mark that came together with the item before it into one arrival: what
// is new comes so, and a reader that is woken once for it reads sooner.
func joined(arrived []arrival) []arrival {
	all := arrived[:0]
	for _, one := range arrived {
		if last := len(all) - 1; one.frame.Mark != nil && last >= 0 && all[last].frame.Item != nil && all[last].frame.Mark == nil {
			all[last].frame.Mark = one.frame.Mark
			continue
		}
		all = append(all, one)
	}
	return all
}

// next waits for a frame. A refusal is an error.
func (a *attachment) next(within time.Duration) (wire.Frame, error) {
	var reply feedringv1.AttachReply
	if err := a.stream.Receive(&reply, within); err != nil {
		return wire.Frame{}, fmt.Errorf("lost: %w", err)
	}
	frame, err := wire.FrameFrom(&reply)
	if err == nil && frame.Refused != nil {
		err = refusal(frame.Refused)
	}
	return frame, err
}

// frame reports one frame.
func (s *session) frame(ctx context.Context, a *attachment, one *arrival) error {
	e := event{served: a.peer.ID, mark: one.frame.Mark, caught: one.frame.Caught != nil}
	e.partial = e.caught && !one.frame.Stemmed && s.wasCut(*one.frame.Caught)
	e.entries, e.proof = s.matched, s.proof
	e.full = e.caught && s.items >= s.want.Query.Limit
	if e.caught {
		e.answer, s.answer = s.answer, nil
		if h := one.frame.Hints; h != nil {
			e.hints = h.Copies
		}
	}
	if one.frame.Item != nil {
		entry, err := s.entry(one, a.peer.ID)
		if err != nil {
			return err
		}
		if s.named(entry) && s.matches(entry) && (s.client.blocks == nil || !s.client.blocks.Entry(entry)) {
			e.entry = entry
			s.matched++
			s.proof = s.proof || s.aim == confirms && s.expects(entry) && proves(&s.want.Query, entry, time.Now())
		}
		e.item = &feedring.Hint{Copy: feedring.CopyKey(entry.Ref(), entry.ID), Published: entry.Published}
		if s.answer != nil {
			s.answer.Add(*e.item)
		}
		s.items++
		s.bytes += len(one.frame.Item.Seal.Payload)
	}
	if !s.report(ctx, e) {
		return ctx.Err()
	}
	switch {
	case !e.caught:
		return nil
	case !s.want.Follow:
		return errWholeDone
	}
	select {
	case <-s.live:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// expects reports whether an entry is one that the first answer should have had.
func (s *session) expects(e *feedring.Entry) bool {
	return s.expected == nil || s.expected[feedring.CopyKey(e.Ref(), e.ID)]
}

// entry checks what a provider, whom nobody has reason to trust, says.
func (s *session) entry(one *arrival, via feedring.PeerID) (*feedring.Entry, error) {
	e, err := one.opened.Entry, one.opened.Err
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errForged, err)
	}
	if arrived := one.frame.Item.Arrived.Truncate(time.Second); !arrived.IsZero() && arrived.Before(e.Published) {
		e.Published = arrived
	}
	q, given := &s.want.Query, e.Provider
	s.client.sites.Attribute(e, one.frame.Item.VouchedBy)
	switch {
	case e.Theme != s.grant.Theme, !e.Provider.Matches(q.Provider) && !given.Matches(q.Provider),
		!q.Since.IsZero() && e.Published.Before(q.Since.Truncate(time.Second)),
		!q.Until.IsZero() && !e.Published.Before(q.Until):
		return nil, errStray
	}
	e.Via = via
	return e, nil
}

// named reports whether an entry is of the provider that is asked for, and of a
// publisher that a site names if that is asked for. A provider of a version before goes
// by the names that publishers give themselves.
func (s *session) named(e *feedring.Entry) bool {
	q := &s.want.Query
	return e.Provider.Matches(q.Provider) && (!q.Vouched || e.Vouch != feedring.NotVouched)
}

// matches reports whether an entry has the words in one of their forms. What was
// taken back has no words.
func (s *session) matches(e *feedring.Entry) bool {
	return s.stems == nil || e.Retracted || s.stems.Match(e.Language, match.TextOf(e))
}

// manyBytes is below what a provider's first answer has at most.
const manyBytes = 8 << 20

// wasCut reports whether a first answer of so many entries, by a provider that
// knows no stems and so was asked for everything, may have left out older ones
// that match: it is as long as answers get, and too few of it match.
func (s *session) wasCut(entries int) bool {
	return s.stems != nil && s.matched < s.want.Query.Limit && (entries >= feedring.MaxLimit || s.bytes >= manyBytes)
}

// renew keeps the lease until ctx ends.
func (a *attachment) renew(ctx context.Context) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if a.stream.Send(wire.RenewTo(), writeWithin) != nil {
				return // the reader notices
			}
		case <-ctx.Done():
			return
		}
	}
}

// refusal is the error that a provider's no is.
func refusal(r *wire.RefusedError) error {
	if r.Kind == feedringv1.RefusedKind_REFUSED_KIND_BAD_QUERY {
		return fmt.Errorf("%w: %w", ErrBadQuery, r)
	}
	return fmt.Errorf("refused: %w", r)
}

// behind returns the refusal to go on from a cursor that err is; nil: err is
// something else.
func behind(err error) *wire.RefusedError {
	var refused *wire.RefusedError
	if errors.As(err, &refused) && refused.Kind == feedringv1.RefusedKind_REFUSED_KIND_BEHIND {
		return refused
	}
	return nil
}

// worse keeps the error that says most about what to do next.
func worse(a, b error) error {
	if errors.Is(a, ErrBadQuery) || behind(a) != nil {
		return a
	}
	return b
}

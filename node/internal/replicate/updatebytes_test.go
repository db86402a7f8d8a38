package replicate

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	parse "github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	"github.com/feedring/feedring/node/codec"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	bbcSnapshots = "../../../../shared/feeds/timeseries/snapshots_bbc_home_uk.tar.xz"
	bbcURL       = "https://feeds.bbci.co.uk/news/uk/rss.xml"
)

// snapshots calls each with the documents that a feed gave, in their order.
func snapshots(t *testing.T, archive string, each func(body []byte)) {
	t.Helper()
	if _, err := os.Stat(archive); err != nil {
		t.Skip("the snapshots are not beside the project:", err)
	}
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("the snapshots cannot be unpacked:", err)
	}
	unpacked, err := exec.Command("xz", "-dc", archive).Output()
	check(t, err)
	for r := tar.NewReader(bytes.NewReader(unpacked)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		check(t, err)
		if h.Typeflag == tar.TypeReg {
			body, err := io.ReadAll(r)
			check(t, err)
			each(body)
		}
	}
}

// TestUpdateBytes measures what a new entry of a real feed takes from its publisher to a
// member of the group, polled and in its notify, beside the document that each would fetch.
func TestUpdateBytes(t *testing.T) {
	sealer := newSealer(t)
	ref := feedring.FeedRef{URL: bbcURL, Publisher: sealer.ID()}
	p := writer(openStore(t), sealer)
	spec := feedring.FeedSpec{URL: bbcURL, Theme: "news", Provider: "bbc.co.uk"}
	var st fetch.State
	var whole, notifies, polled, answers []int
	holder := newReplicator(t, p.Store, sealer.ID(), nil, 0)
	at := feedring.Position{Epoch: 1_700_000_000, Sequence: 1}
	snapshots(t, bbcSnapshots, func(body []byte) {
		if len(answers) >= 100 {
			return
		}
		doc, err := parse.Parse(parse.Source{URL: bbcURL}, body)
		if err != nil {
			return // a capture of something else
		}
		first := len(whole) == 0
		whole = append(whole, len(body))
		var found []feedring.Entry
		found, st = fetch.Diff(st, doc, time.Now())
		if first {
			return
		}
		for _, e := range found {
			before := p.Store.LogHead(ref).Position
			_, err := p.Write(t.Context(), spec, []feedring.Entry{e}, at)
			check(t, err)
			items, err := p.Store.Scan(t.Context(), ref, before, 0, 0)
			check(t, err)
			if len(items) == 0 {
				continue
			}
			at.Sequence++
			answer := holder.Answer(ref, before)
			if answer == nil {
				t.Errorf("the answer about %s is too long for its notify", e.Title)
			}
			notify, request, part := updateFrames(t, p.Store, sealer, ref, items[0].Position, items)
			notifies, polled = append(notifies, notify), append(polled, notify+request+part)
			answers = append(answers, notifyBytes(t, sealer, group.Notify{Head: feedring.Head{Feed: ref, Position: items[0].Position}, After: before, Answer: answer}))
		}
	})
	if len(answers) < 50 {
		t.Fatalf("%d new entries", len(answers))
	}
	t.Logf("%d new entries of %d documents: in the middle a notify of %d bytes, with the request and the answer of a poll %d; a notify with the answer %d (9 of 10 below %d); a document has %d",
		len(answers), len(whole), middle(notifies), middle(polled), middle(answers), at90(answers), middle(whole))
	if middle(answers) > 500 || middle(answers) > middle(polled) {
		t.Errorf("an update takes %d bytes", middle(answers))
	}
}

// notifyBytes is the length of a notify's frame.
func notifyBytes(t *testing.T, sealer *wire.Sealer, m group.Notify) int {
	t.Helper()
	m.Header = group.Header{Group: feedring.Theme("news").Group(), Term: feedring.Term{Number: 7, Claimant: sealer.ID()}}
	frame, err := codec.Encode(sealer, m)
	check(t, err)
	return len(frame)
}

// updateFrames are the lengths of what tells of an entry, asks for it and brings it.
func updateFrames(t *testing.T, s *store.Store, sealer *wire.Sealer, ref feedring.FeedRef, at feedring.Position, items []store.Item) (notify, request, part int) {
	t.Helper()
	notify = notifyBytes(t, sealer, group.Notify{Head: feedring.Head{Feed: ref, Position: at}})
	before := feedring.Position{Epoch: at.Epoch, Sequence: at.Sequence - 1}
	words := dictionaryAt(s, ref, before)
	ask, err := wire.AppendFrame(nil, polls.RequestTo(polls.Request{Feed: ref, After: before, Fresh: time.Now(), Dictionary: words.Name()}))
	check(t, err)
	answer := &feedringv1.PollPart{Head: wire.PositionTo(at)}
	addTo(answer, &items[0])
	check(t, new(polls.Packer).Pack(answer, words, words.Name()))
	brought, err := wire.AppendFrame(nil, answer)
	check(t, err)
	return notify, len(ask), len(brought)
}

func middle(list []int) int { return slices.Sorted(slices.Values(list))[len(list)/2] }

func at90(list []int) int { return slices.Sorted(slices.Values(list))[len(list)*9/10] }

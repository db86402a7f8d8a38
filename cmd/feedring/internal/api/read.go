package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

// maxLine is the longest line of an answer: an entry in JSON, which may take
// six characters for a byte.
const maxLine = 6*feedring.MaxEntry + 4096

// maxSilence is how long a stream may be silent: a peer writes a comment each 15 s.
const maxSilence = 45 * time.Second

// Query asks once. When time runs out first it returns what came, as
// incomplete.
func (c *Client) Query(ctx context.Context, q feedring.Query) (client.Answer, error) {
	answer := client.Answer{Final: Unanswered(q)}
	resp, err := c.send(ctx, request{path: "entries", query: values(q), accept: "application/x-ndjson"})
	if errors.Is(err, context.DeadlineExceeded) {
		return answer, nil
	}
	if err != nil {
		return answer, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		done, err := answerLine(&answer, lines.Bytes())
		if err != nil || done {
			return answer, err
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return answer, fmt.Errorf("reading the answer: %w", err)
	}
	return answer, nil
}

// answerLine takes one line; done says that it was the final one.
func answerLine(answer *client.Answer, line []byte) (done bool, err error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return false, nil
	}
	var kind struct {
		Event string `json:"event"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return false, fmt.Errorf("the answer cannot be read (is a feedring peer listening there?): %w", err)
	}
	if kind.Event == "" {
		var entry feedring.Entry
		err := json.Unmarshal(line, &entry)
		answer.Entries = append(answer.Entries, entry)
		return false, err
	}
	return true, answerEvent(answer, line)
}

func answerEvent(answer *client.Answer, text []byte) error {
	var told feedring.Event
	if err := json.Unmarshal(text, &told); err != nil {
		return fmt.Errorf("final answer: %w", err)
	}
	answer.Final = finalOf(&told)
	return nil
}

// finalOf is the final that an event tells.
func finalOf(e *feedring.Event) feedring.Final {
	f := feedring.Final{Status: feedring.Incomplete, Missing: e.Missing, Copies: e.Copies, Hops: e.Hops, Messages: e.Messages, Suggest: e.Suggest}
	switch e.Event {
	case feedring.Answered.String():
		f.Status = feedring.Answered
	case feedring.Unsatisfied.String():
		f.Status = feedring.Unsatisfied
	}
	for _, id := range e.Via.Peers {
		f.Grants = append(f.Grants, feedring.Grant{Theme: e.Theme, Provider: feedring.PeerInfo{ID: id}})
	}
	return f
}

// Unanswered is the final of a query to which nothing was told in time.
func Unanswered(q feedring.Query) feedring.Final {
	return feedring.Final{Status: feedring.Incomplete, Missing: missing(q)}
}

// missing names what is not reached when nothing was told in time.
func missing(q feedring.Query) []string {
	switch {
	case q.Theme == "":
		return nil
	case q.Provider == "":
		return []string{string(q.Theme)}
	default:
		return []string{string(q.Theme) + "/" + q.Provider}
	}
}

// Stream is a query that goes on.
type Stream struct {
	Query    feedring.Query
	Updates  bool
	After    string // the last event's id of an earlier stream; empty: begin
	Follower Follower
	Within   time.Duration // in which the peer must begin to answer

	answered bool // First was called
}

// Follower takes the events of a stream, in order. The id that comes with one is
// the position to go on after. An error ends the stream.
type Follower interface {
	// Opened is called when the peer begins to answer.
	Opened()
	// First is called once, after the entries of the first answer. After
	// client.ErrEnough SetCursor is called before the stream ends.
	First(answer client.Answer, id string) error
	Entry(e feedring.Entry, id string) error
	// Retracted is called, with Updates, for an entry that was taken back.
	Retracted(r feedring.Retraction, id string) error
	// Gap is called where entries of a feed were given up.
	Gap(client.Gap)
	// Older is called for entries that are no news.
	Older(client.Older)
	// Unserved is called with the groups that nobody serves, where that changed.
	Unserved(themes []feedring.Theme)
	// SetCursor is called with the position after a final event, if that has one.
	SetCursor(id string)
}

// Follow reads events until ctx ends, the peer closes the stream or falls silent,
// or Follower returns an error. heard reports whether the peer began to answer.
func (c *Client) Follow(ctx context.Context, s *Stream) (heard bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	within := s.Within
	timer := time.AfterFunc(within, func() { cancel(ErrSilent) })
	defer timer.Stop()
	defer func() {
		if errors.Is(context.Cause(ctx), ErrSilent) && !errors.Is(err, client.ErrEnough) {
			err = c.silent(within)
		}
	}()
	query := values(s.Query)
	if s.Updates {
		query.Set("updates", "true")
	}
	resp, err := c.send(ctx, request{path: "stream", query: query, accept: "text/event-stream", last: s.After})
	if err != nil {
		return false, err
	}
	timer.Stop()
	defer resp.Body.Close()
	if s.Query.Stem && resp.Header.Get("Feedring-Stem") == "" {
		return false, errors.New("that peer is of an older version and does not know --stem: bring it up to date, or leave --stem away")
	}
	s.Follower.Opened()
	within = max(s.Within, maxSilence)
	return true, readEvents(&timedReader{r: resp.Body, timer: timer, within: within}, s.event)
}

// timedReader runs a timer while it waits for bytes, and not while the follower
// prints what came: a pager may take its time.
type timedReader struct {
	r      io.Reader
	timer  *time.Timer
	within time.Duration
}

func (t *timedReader) Read(b []byte) (int, error) {
	t.timer.Reset(t.within)
	defer t.timer.Stop()
	return t.r.Read(b)
}

func (s *Stream) event(e event) error {
	switch e.name {
	case "entry", "message":
		var entry feedring.Entry
		if err := json.Unmarshal(e.data, &entry); err != nil {
			return fmt.Errorf("entry: %w", err)
		}
		if err := s.Follower.Entry(entry, e.id); err != nil {
			return err
		}
		s.After = or(e.id, s.After)
	case "answered", "unsatisfied", "incomplete":
		return s.final(e)
	case "retracted":
		return s.retracted(e)
	case "gap":
		return s.gap(e)
	case "older":
		return s.older(e)
	case "unserved":
		return s.unserved(e)
	case "problem":
		p := &Problem{}
		if err := json.Unmarshal(e.data, p); err != nil {
			return fmt.Errorf("problem: %w", err)
		}
		return p
	}
	return nil // an event of a newer version
}

func (s *Stream) retracted(e event) error {
	var told feedring.Retraction
	if err := json.Unmarshal(e.data, &told); err != nil {
		return fmt.Errorf("retraction: %w", err)
	}
	if err := s.Follower.Retracted(told, e.id); err != nil {
		return err
	}
	s.After = or(e.id, s.After)
	return nil
}

func (s *Stream) gap(e event) error {
	var told struct {
		Theme     feedring.Theme  `json:"theme"`
		Feed      string          `json:"feed"`
		Publisher feedring.PeerID `json:"publisher"`
	}
	if err := json.Unmarshal(e.data, &told); err != nil {
		return fmt.Errorf("gap: %w", err)
	}
	s.Follower.Gap(client.Gap{Theme: told.Theme, Feed: feedring.FeedRef{URL: told.Feed, Publisher: told.Publisher}})
	return nil
}

func (s *Stream) older(e event) error {
	var told struct {
		Theme    feedring.Theme    `json:"theme"`
		Feed     string            `json:"feed"`
		Provider feedring.Provider `json:"provider"`
		Count    int               `json:"count"`
	}
	if err := json.Unmarshal(e.data, &told); err != nil {
		return fmt.Errorf("older entries: %w", err)
	}
	s.Follower.Older(client.Older{Theme: told.Theme, Provider: told.Provider, Feed: feedring.FeedRef{URL: told.Feed}, Count: told.Count})
	if s.After = or(e.id, s.After); e.id != "" {
		s.Follower.SetCursor(e.id)
	}
	return nil
}

func (s *Stream) unserved(e event) error {
	var told struct {
		Themes []feedring.Theme `json:"themes"`
	}
	if err := json.Unmarshal(e.data, &told); err != nil {
		return fmt.Errorf("groups that nobody serves: %w", err)
	}
	s.Follower.Unserved(told.Themes)
	return nil
}

// final takes the end of a first answer. Its id counts even where an earlier
// stream told the answer already.
func (s *Stream) final(e event) (err error) {
	answer := client.Answer{Final: finalOf(&feedring.Event{Event: e.name})}
	if len(e.data) > 0 {
		if err := answerEvent(&answer, e.data); err != nil {
			return err
		}
	}
	if !s.answered {
		s.answered = true
		if err = s.Follower.First(answer, e.id); err != nil && !errors.Is(err, client.ErrEnough) {
			return err
		}
	}
	if s.After = or(e.id, s.After); e.id != "" {
		s.Follower.SetCursor(e.id)
	}
	return err
}

// or keeps the last id where an event has none: from there nothing is missed.
func or(id, before string) string {
	if id == "" {
		return before
	}
	return id
}

type event struct {
	name, id string
	data     []byte
}

// readEvents parses server-sent events (HTML Living Standard, 9.2.6).
func readEvents(r io.Reader, each func(event) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var e event
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) == 0 {
			if e.name != "" || len(e.data) > 0 {
				if err := each(e.named()); err != nil {
					return err
				}
			}
			e = event{id: e.id}
			continue
		}
		e.field(line)
		if len(e.data) > maxLine {
			return errors.New("the peer sent an event that is too long")
		}
	}
	return lines.Err()
}

func (e event) named() event {
	if e.name == "" {
		e.name = "message"
	}
	return e
}

func (e *event) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "id":
		e.id = string(value)
	case "data":
		if len(e.data) > 0 {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
	}
}

func values(q feedring.Query) url.Values {
	v := url.Values{}
	set(v, "theme", string(q.Theme))
	set(v, "provider", q.Provider)
	set(v, "q", q.Words)
	if q.Stem {
		v.Set("stem", "true")
	}
	if q.Vouched {
		v.Set("vouched", "true")
	}
	if !q.Since.IsZero() {
		v.Set("since", q.Since.UTC().Format(time.RFC3339))
	}
	if !q.Until.IsZero() {
		v.Set("until", q.Until.UTC().Format(time.RFC3339))
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return v
}

func set(v url.Values, key, value string) {
	if value != "" {
		v.Set(key, value)
	}
}

package wire

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// Ask is a client's question to any peer. Of the Query, Theme, Provider and
// Since travel; the words stay with the client until it has a provider.
type Ask struct {
	ID      feedring.QueryID
	Attempt uint32
	Query   feedring.Query
	Within  time.Duration
}

// AskTo is a question as it travels.
func AskTo(a Ask) *feedringv1.AskRequest {
	return &feedringv1.AskRequest{
		Id: a.ID[:], Attempt: a.Attempt, Theme: string(a.Query.Theme), Provider: cutText(a.Query.Provider, maxProvider),
		SinceUnixMs: TimeTo(a.Query.Since), WithinMs: SpanTo(a.Within),
	}
}

// AskFrom is the inverse of AskTo.
func AskFrom(r *feedringv1.AskRequest) (Ask, error) {
	var d Decoder
	a := Ask{
		ID: d.Query("id", r.GetId()), Attempt: r.GetAttempt(), Within: d.Span("within", r.GetWithinMs()),
		Query: feedring.Query{
			Theme:    d.Theme("theme", r.GetTheme()),
			Provider: d.Text("provider", r.GetProvider(), maxProvider),
			Since:    d.Time("since", r.GetSinceUnixMs()),
		},
	}
	if d.Err() != nil {
		return Ask{}, fmt.Errorf("question: %w", d.Err())
	}
	return a, nil
}

// AskReplyTo is the answer to a question as it travels. The tickets in f must
// be sealed; a final that cannot travel becomes an error for the client.
func AskReplyTo(f feedring.Final) *feedringv1.AskReply {
	var e Encoder
	final := e.Final(&f)
	if e.Err() != nil {
		return AskErrorTo(f.ID, f.Attempt, feedringv1.ErrorKind_ERROR_KIND_INTERNAL, e.Err().Error())
	}
	return &feedringv1.AskReply{Answer: &feedringv1.AskReply_Final{Final: final}}
}

// AskErrorTo answers a question that gets no final.
func AskErrorTo(id feedring.QueryID, attempt uint32, kind feedringv1.ErrorKind, text string) *feedringv1.AskReply {
	return &feedringv1.AskReply{Answer: &feedringv1.AskReply_Error{
		Error: &feedringv1.AskError{Id: id[:], Attempt: attempt, Error: ErrorTo(kind, text)},
	}}
}

// AskReplyFrom reads the answer to a question: with a *RemoteError, ID and
// Attempt of the final tell whose it is; any other error condemns the stream.
// The signatures of tickets are not checked: who is to serve them does.
func AskReplyFrom(r *feedringv1.AskReply) (feedring.Final, error) {
	var d Decoder
	var f feedring.Final
	var told error
	switch answer := r.GetAnswer().(type) {
	case *feedringv1.AskReply_Final:
		f = d.Final(answer.Final)
	case *feedringv1.AskReply_Error:
		f = feedring.Final{ID: d.Query("id", answer.Error.GetId()), Attempt: answer.Error.GetAttempt()}
		told = ErrorFrom(answer.Error.GetError())
	default:
		d.Malformed("answer", "neither a final nor an error")
	}
	if d.Err() != nil {
		return feedring.Final{}, fmt.Errorf("answer: %w", d.Err())
	}
	return f, told
}

package codec

import (
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// The messages of shared fetches.

const (
	maxTurns  = 1000 // feeds in a message
	maxTurnBy = 64   // peers that fetch one
)

func encodeTurnsWanted(e *encoder, m group.AssignmentsWanted) *feedringv1.TurnsWanted {
	p := &feedringv1.TurnsWanted{Header: e.header(m.Header)}
	for i := range m.Feeds {
		f := &m.Feeds[i]
		p.Feeds = append(p.Feeds, &feedringv1.TurnWanted{
			Url: f.URL, DistanceMs: wire.SpanTo(f.Distance), Lookers: wire.CountTo(f.Fetchers), Holds: f.Fetching, Failing: f.Failing,
			Last: lastTo(f.Last), EveryMs: wire.SpanTo(f.Every),
		})
	}
	return p
}

func decodeTurnsWanted(d *decoder, p *feedringv1.TurnsWanted) group.AssignmentsWanted {
	m := group.AssignmentsWanted{Header: d.header(p.GetHeader())}
	if !d.Within("feeds", len(p.GetFeeds()), maxTurns) {
		return m
	}
	for _, f := range p.GetFeeds() {
		m.Feeds = append(m.Feeds, group.AssignmentRequest{
			URL: d.Text("url", f.GetUrl(), maxURL), Distance: d.Span("distance", f.GetDistanceMs()),
			Fetchers: d.Count("lookers", f.GetLookers()), Fetching: f.GetHolds(), Failing: f.GetFailing(),
			Last: lastFrom(d, f.GetLast()), Every: d.Span("every", f.GetEveryMs()),
		})
	}
	return m
}

func encodeTurns(e *encoder, m group.Assignments) *feedringv1.Turns {
	p := &feedringv1.Turns{Header: e.header(m.Header), ForMs: wire.SpanTo(m.For)}
	for i := range m.Feeds {
		p.Feeds = append(p.Feeds, &feedringv1.FeedTurns{Url: m.Feeds[i].URL, By: e.Peers(m.Feeds[i].By), Last: lastTo(m.Feeds[i].Last)})
	}
	return p
}

func decodeTurns(d *decoder, p *feedringv1.Turns) group.Assignments {
	m := group.Assignments{Header: d.header(p.GetHeader()), For: d.Span("for", p.GetForMs())}
	if !d.Within("feeds", len(p.GetFeeds()), maxTurns) {
		return m
	}
	for _, f := range p.GetFeeds() {
		m.Feeds = append(m.Feeds, group.Assignment{
			URL: d.Text("url", f.GetUrl(), maxURL), By: d.Peers("by", f.GetBy(), maxTurnBy), Last: lastFrom(d, f.GetLast()),
		})
	}
	return m
}

func lastTo(l *group.LastFetch) *feedringv1.LastLook {
	if l == nil {
		return nil
	}
	return &feedringv1.LastLook{
		AgoMs: wire.SpanTo(l.Ago), WaitMs: wire.SpanTo(l.Wait), Host: l.Host,
		Etag: []byte(l.ETag), LastModified: []byte(l.LastModified), Entries: l.Entries,
		Failures: wire.CountTo(l.Failures), AgainMs: wire.SpanTo(l.Again), Gone: l.Gone,
	}
}

func lastFrom(d *decoder, p *feedringv1.LastLook) *group.LastFetch {
	if p == nil {
		return nil
	}
	d.Within("etag", len(p.GetEtag()), group.MaxValidator)
	d.Within("last modified", len(p.GetLastModified()), group.MaxValidator)
	return &group.LastFetch{
		Ago: d.Span("ago", p.GetAgoMs()), Wait: d.Span("wait", p.GetWaitMs()), Host: d.Text("host", p.GetHost(), group.MaxFetchHost),
		ETag: string(p.GetEtag()), LastModified: string(p.GetLastModified()), Entries: p.GetEntries(),
		Failures: d.Count("failures", p.GetFailures()), Again: d.Span("again", p.GetAgainMs()), Gone: p.GetGone(),
	}
}

func encodeFetchRequest(e *encoder, m group.FetchRequest) *feedringv1.Urge {
	return &feedringv1.Urge{Header: e.header(m.Header), Url: m.URL}
}

func decodeFetchRequest(d *decoder, p *feedringv1.Urge) group.FetchRequest {
	return group.FetchRequest{Header: d.header(p.GetHeader()), URL: d.Text("url", p.GetUrl(), maxURL)}
}

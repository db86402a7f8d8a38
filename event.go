package feedring

import "encoding/json"

// Event is the line that ends an answer: the last one of "query --json", of the
// API's lines, and of a stream's first answer. FinalEvent makes it; reading one
// needs only json.Unmarshal.
type Event struct {
	Event    string   `json:"event"` // answered, unsatisfied, incomplete
	Missing  []string `json:"missing,omitempty"`
	Copies   []string `json:"copies,omitempty"` // answered whole from copies: the publisher is away
	Via      Via      `json:"via,omitzero"`     // who served it, with answered
	Theme    Theme    `json:"theme,omitempty"`
	Hops     int      `json:"hops"`
	Messages int      `json:"messages"`
	Entries  *int     `json:"entries,omitempty"` // how many came before; absent where nobody serves the query
	Suggest  []string `json:"suggest,omitempty"` // "did you mean", with unsatisfied
	Hints    []string `json:"hints,omitempty"`   // of the API, where nothing was found: what in the words may have been meant otherwise
}

// FinalEvent tells a final answer to a query for theme (empty: for every group)
// that brought so many entries.
func FinalEvent(f Final, theme Theme, entries int) Event {
	e := Event{Event: f.Status.String(), Copies: f.Copies, Hops: f.Hops, Messages: f.Messages}
	switch f.Status {
	case Answered:
		e.Theme, e.Via, e.Entries = theme, providersOf(f, theme == ""), &entries
	case Unsatisfied:
		e.Suggest = f.Suggest
	default:
		e.Missing, e.Entries = f.Missing, &entries
	}
	return e
}

// providersOf names each provider of f once, in the order of the grants.
func providersOf(f Final, list bool) Via {
	via := Via{List: list}
	named := make(map[PeerID]bool, len(f.Grants))
	for _, g := range f.Grants {
		if id := g.Provider.ID; id != "" && !named[id] {
			named[id] = true
			via.Peers = append(via.Peers, id)
		}
	}
	return via
}

// Via names who served an answer. In JSON it is one id, or with List a list.
type Via struct {
	Peers []PeerID
	List  bool
}

// IsZero reports whether there is nothing to tell.
func (v Via) IsZero() bool { return len(v.Peers) == 0 && !v.List }

// MarshalJSON implements json.Marshaler. Several providers are a list even
// where one was asked for: none of them is left out.
func (v Via) MarshalJSON() ([]byte, error) {
	if !v.List && len(v.Peers) == 1 {
		return json.Marshal(v.Peers[0])
	}
	return json.Marshal(append([]PeerID{}, v.Peers...))
}

// UnmarshalJSON implements json.Unmarshaler. What v was before is gone; null
// is nobody.
func (v *Via) UnmarshalJSON(b []byte) error {
	*v = Via{}
	switch {
	case string(b) == "null":
		return nil
	case len(b) > 0 && b[0] == '[':
		v.List = true
		return json.Unmarshal(b, &v.Peers)
	}
	v.Peers = make([]PeerID, 1)
	return json.Unmarshal(b, &v.Peers[0])
}

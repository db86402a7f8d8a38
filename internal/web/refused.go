package web

import "github.com/feedring/feedring/internal/refusals"

// Refused is what the peer did not do for others, and what its owner can do about it.
type Refused struct {
	Where  refusals.Where  `json:"where"`
	Reason refusals.Reason `json:"reason"`
	Times  uint64          `json:"times"`
	Advice string          `json:"advice"`
}

// mostRefused is of how many kinds of refusals the owner is told.
const mostRefused = 3

// refusedMost are the first of what was refused, with advice.
func refusedMost(all []refusals.Count) (most []Refused) {
	for _, c := range all[:min(len(all), mostRefused)] {
		most = append(most, Refused{Where: c.Where, Reason: c.Reason, Times: c.Times, Advice: adviceOn(c.Where, c.Reason)})
	}
	return most
}

// adviceOn says what to do about a refusal; empty: this is no known one. Most of them
// are the peer's own answer.
func adviceOn(where refusals.Where, reason refusals.Reason) string {
	switch where {
	case refusals.Block:
		return "nothing: \"feedring block list\" shows what is blocked"
	case refusals.Disk:
		return "nothing: a publisher without standing here publishes more than is kept of it, and readers are sent to it; --log-level info names it"
	case refusals.Useless, refusals.Frame:
		return "nothing: the peer listens to such senders less; --log-level debug names them, and \"feedring block\" ends their connections"
	case refusals.HTTP, refusals.Connection:
		return adviceOnHTTP(reason)
	case refusals.Stream:
		switch reason {
		case refusals.Full:
			return moreRoom
		case refusals.Share:
			return "nothing: one peer asked for more than its share; \"feedring block\" ends its connections"
		}
	}
	return ""
}

const moreRoom = "if it lasts, allow the process more open files, or run another peer"

func adviceOnHTTP(reason refusals.Reason) string {
	switch reason {
	case refusals.Host:
		return "if readers use that name, start the peer with --public-url"
	case refusals.Token:
		return "if it was not you, somebody guesses the token: let --http be reached by fewer"
	case refusals.Full:
		return moreRoom
	case refusals.Share:
		return "if it is a proxy in front, name it with --trusted-proxy"
	}
	return ""
}

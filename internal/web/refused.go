package web

import "github.com/feedring/feedring/internal/refusals"

// Refused is what the peer did not do for others, and what its owner can do about it.
type Refused struct {
	Door   refusals.Door   `json:"door"`
	Reason refusals.Reason `json:"reason"`
	Times  uint64          `json:"times"`
	Advice string          `json:"advice"`
}

// mostRefused is of how many kinds of refusals the owner is told.
const mostRefused = 3

// refusedMost are the first of what was refused, with advice.
func refusedMost(all []refusals.Count) (most []Refused) {
	for _, c := range all[:min(len(all), mostRefused)] {
		most = append(most, Refused{Door: c.Door, Reason: c.Reason, Times: c.Times, Advice: adviceOn(c.Door, c.Reason)})
	}
	return most
}

// adviceOn says what to do about a refusal. Most of them are the peer's own answer.
func adviceOn(door refusals.Door, reason refusals.Reason) string {
	switch {
	case door == refusals.Block:
		return "nothing: \"feedring block list\" shows what is blocked"
	case door == refusals.Useless, reason == refusals.Malformed:
		return "nothing: the peer listens to such senders less; --log-level debug names them, and \"feedring block\" ends their connections"
	case reason == refusals.Host:
		return "if readers use that name, start the peer with --public-url"
	case reason == refusals.Token:
		return "if it was not you, somebody guesses the token: let --http be reached by fewer"
	case reason == refusals.Full:
		return "if it lasts, allow the process more open files, or run another peer"
	case door == refusals.HTTP || door == refusals.Connection:
		return "if it is a proxy in front, name it with --trusted-proxy"
	}
	return "nothing: one peer asked for more than its share; \"feedring block\" ends its connections"
}

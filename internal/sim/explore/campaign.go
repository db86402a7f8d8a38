package explore

// mostWalked bounds the states that a campaign visits on walks: each leads into
// another long run without faults, which takes a thousand times as long as a
// state beside others.
const mostWalked = 10_000

// Campaign lists the explorations of groups of so many peers that about states
// states are spent on: what one fault does, what two do, what none and one do
// in a group that is torn, what one does while the group is being founded, and,
// by drawn walks, what four do.
func Campaign(peers, states int) []Config {
	share := func(percent int) int { return max(1, states*percent/100) }
	return []Config{
		{Peers: peers, Faults: 1, States: share(34)},
		{Peers: peers, Faults: 2, States: share(34)},
		{Peers: peers, Begin: Torn, States: share(18)},
		{Peers: peers, Faults: 1, Begin: Torn, States: share(4)},
		{Peers: peers, Faults: 1, Begin: Founding, States: share(9)},
		{Peers: peers, Faults: 4, States: min(share(1), mostWalked), Seed: uint64(peers)},
	}
}

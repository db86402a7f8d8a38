package explore

// Campaign lists the explorations of groups of so many peers that about states
// states are spent on: what one fault does, what two do, what one does while
// the group is being founded, and, by drawn walks, what four do.
func Campaign(peers, states int) []Config {
	share := func(percent int) int { return max(1, states*percent/100) }
	return []Config{
		{Peers: peers, Faults: 1, States: share(45)},
		{Peers: peers, Faults: 2, States: share(40)},
		{Peers: peers, Faults: 1, States: share(13), Founding: true},
		{Peers: peers, Faults: 4, States: share(2), Seed: uint64(peers)},
	}
}

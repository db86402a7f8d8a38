package explore

// mostWalked bounds the states that a campaign visits on walks: each leads into
// another long run without faults, which takes a thousand times as long as a
// state beside others.
const mostWalked = 10_000

// Campaign lists the explorations of groups of so many peers that states
// different groups are looked for by: by drawn walks, what four faults do; what
// none and one do in a group that is torn; what one does while the group is
// being founded; what none and one do where the manager is silent, before it is
// suspected and before another claims; what one and two do to a settled group.
func Campaign(peers, states int) []Config {
	share := func(percent int) int { return max(1, states*percent/100) }
	walked := min(share(1), mostWalked)
	return []Config{
		{Peers: peers, Faults: 4, States: walked, Seed: uint64(peers)},
		{Peers: peers, Begin: Torn, States: share(10)},
		{Peers: peers, Faults: 1, Begin: Torn, States: share(3)},
		{Peers: peers, Faults: 1, Begin: Founding, States: share(5)},
		{Peers: peers, Begin: Silent, States: share(12)},
		{Peers: peers, Faults: 1, Begin: Silent, States: share(5)},
		{Peers: peers, Begin: Claiming, States: share(23)},
		{Peers: peers, Faults: 1, Begin: Claiming, States: share(10)},
		{Peers: peers, Faults: 1, States: share(16)},
		{Peers: peers, Faults: 2, States: max(1, share(16)-walked)},
	}
}

// Watch is told how a campaign fares. What is nil is not called.
type Watch struct {
	Progress func(Result) // of the exploration under way, now and then
	Tell     func(Result) // of each exploration, at its end
	Stop     func() bool  // asked before each state: whether to end here
}

// RunCampaign does all explorations of Campaign, one after the other. Each
// counts only groups that those before did not meet, and does what is missing
// where those before met every state that there was: so all results together
// count states groups, unless the last one is whole. One that was stopped ends
// with ErrStopped, and can only be begun anew.
func RunCampaign(sys System, peers, states int, watch Watch) error {
	counted := &Counted{}
	missing := states
	configs := Campaign(peers, states)
	for _, cfg := range configs {
		missing -= cfg.States
	}
	for _, cfg := range configs {
		cfg.States = max(1, cfg.States+missing)
		cfg.Counted, cfg.Progress, cfg.Stop = counted, watch.Progress, watch.Stop
		res, err := Run(sys, cfg)
		if err != nil {
			return err
		}
		missing = cfg.States - res.New
		if watch.Tell != nil {
			watch.Tell(res)
		}
	}
	return nil
}

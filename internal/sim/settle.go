package sim

import "time"

// settle lets quiet time pass and holds it against the liveness invariants.
func (s *scenario) settle() {
	s.Run(s.now + 25*s.cfg.Peer.Refresh)
}

func (w *World) answeredWhole(r *reader) {}

var _ = time.Second

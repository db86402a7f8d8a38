package host

// BlocksChanged ends the connections with whom Config.Blocks refuses from now on, and
// all that is open on them.
func (h *Host) BlocksChanged() {
	for _, c := range h.lib.Network().Conns() {
		if h.gater.Blocked(c.RemotePeer(), c.RemoteMultiaddr()) {
			_ = c.Close() // one that fails is closed already
		}
	}
}

package node

// StoreRecovered looks soon for what the store refused.
func (n *Node) StoreRecovered() { n.background(func() { n.origins.watcher.Resume() }) }

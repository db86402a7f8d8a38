package experiment

import "math"

// In a group of more than meshAbove a publisher notifies at most meshMost
// neighbours, and those poll it; each peer is told of an entry so often down the
// publisher's tree: docs/protocol.md, section 4.
const (
	meshAbove = 64
	meshMost  = 10
	treeTells = 1.33
)

// Ours is the model of our groups, for sizes beyond those that were measured:
// one peer looks at the site; it notifies all, or its neighbours, and serves
// each of them one poll; readers are spread evenly. What counts is a notify, an
// answer to a poll, and an entry on a reader's stream.
func Ours(cfg CompareConfig, peers, readers int) SystemLoad {
	told := float64(peers - 1)
	depth := 1.0
	if peers > meshAbove {
		told = meshMost
		depth = math.Log(float64(peers)) / math.Log(meshMost-1)
	}
	streams := math.Ceil(float64(readers) / float64(peers))
	load := SystemLoad{Origin: perHour(cfg.Look), Publisher: 2*told + streams, All: 2*float64(peers-1) + float64(readers)}
	if peers > meshAbove {
		load.All = (treeTells+1)*float64(peers-1) + float64(readers)
	}
	load.Busiest = load.Publisher
	load.Lag = cfg.Look.Seconds()/2 + (3*depth+1)*cfg.Hop.Seconds() // notify, poll, answer; stream
	return load
}

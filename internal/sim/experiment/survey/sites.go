package survey

import (
	"slices"
	"time"

	"github.com/feedring/feedring/internal/sim/experiment/smallweb"
)

// crawl is how often Cobra looks at each feed.
const crawl = 15 * time.Minute

// personalSites are the rungs of a day of personal sites (smallweb's model), each
// looked at as often as Cobra does. Each has the size of one of docs, and the entry it
// publishes takes what that document's last one takes. No entry changes.
func personalSites(cfg smallweb.Config, docs []Document) *Ladder {
	sized := make(map[smallweb.Size]*Document)
	cfg.Sizes = nil
	for i := range docs {
		if n := len(docs[i].Articles); n > 0 {
			size := smallweb.Size{Bytes: docs[i].Bytes, Entries: n}
			cfg.Sizes = append(cfg.Sizes, size)
			sized[size] = &docs[i]
		}
	}
	if len(cfg.Sizes) == 0 {
		return nil
	}
	l := &Ladder{Feed: "personal sites"}
	sites, whole := smallweb.Publish(cfg)
	from, to := smallweb.Day()
	for i, s := range sites {
		d := sized[s.Size]
		first, _ := slices.BinarySearchFunc(s.Published, from, time.Time.Compare)
		looks, news := int64(to.Sub(from)/crawl), int64(0)
		var entries float64
		for k := first; k < len(s.Published) && s.Published[k].Before(to); {
			until := from.Add(s.Published[k].Sub(from).Truncate(crawl) + crawl)
			n := 0
			for ; k < len(s.Published) && s.Published[k].Before(until); k++ {
				n++
			}
			news++
			entries += float64(min(n, s.Size.Entries))
		}
		size := int64(s.Size.Bytes)
		l.Looks += int(looks)
		l.Bytes[Whole] += looks * size
		l.Bytes[NotChanged] += news * size
		if whole[i] {
			l.Bytes[NotChanged] += (looks - news) * size
		}
		l.Bytes[Hashed] += news * size
		for rung, each := range [rungs]float64{Changed: d.Entry, New: d.Entry, Packed: d.Packed, PackedNew: d.Packed} {
			l.Bytes[rung] += int64(entries * each)
		}
	}
	return l
}

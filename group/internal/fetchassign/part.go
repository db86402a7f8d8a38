package fetchassign

import (
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// A host's rate holds for the whole group. If no single peer can fetch all of a host's
// feeds, its time is split: feeds that the same peers offer have one fetcher, so each such
// lot has a part, by its number of feeds. Every peer computes the same parts from the rows,
// without a message.

// Part is the part of a host's time in which a feed may be fetched, in 2^32nds of
// it. The zero Part is all of it.
type Part struct{ From, Size uint32 }

const (
	whole     = 1 << 32
	leastPart = whole / 512 // no feed waits for much longer than the hour between two fetches
)

// slot is the part of one of several fetchers of a feed.
func (p Part) slot(turn, of int) Part {
	size := uint64(p.Size)
	if p == (Part{}) {
		size = whole
	}
	size /= uint64(of)
	return Part{p.From + uint32(size*uint64(turn-1)), uint32(max(size, leastPart))}
}

// Parts is how the time of hosts is split, as far as it was asked for: it
// follows from the Index and Vouched of a Snapshot.
type Parts map[string]hostParts

type hostParts struct {
	feeds map[string]Part // by address; nil: each has all of it
	one   bool            // somebody can fetch all
}

// part is that of a feed for one of its fetchers. A peer that fetches all has all.
func (h *Snapshot) part(url string, turn, of int) Part {
	host := hostOf(url)
	parts, known := h.Parts[host]
	if !known {
		parts = h.partsOf(host)
		h.Parts[host] = parts
	}
	switch {
	case of > 1:
		return parts.feeds[url].slot(turn, of)
	case parts.one:
		return Part{}
	}
	return parts.feeds[url]
}

// lot is feeds that the same peers offer.
type lot struct {
	by   []feedring.PeerID
	urls []string
}

// lots lists the lots of a host in the order of their first addresses. The site's own
// peer asks its own host, and takes nobody's time.
func (h *Snapshot) lots(host string) (lots []*lot) {
	known := map[string]*lot{}
	h.eachFeed(host, func(offers []catalogue.Publication) {
		by, name := h.mirrors(offers), ""
		for _, p := range by {
			name += string(p) + " "
		}
		if name == "" {
			return
		}
		if known[name] == nil {
			known[name] = &lot{by: by}
			lots = append(lots, known[name])
		}
		known[name].urls = append(known[name].urls, offers[0].Ref.URL)
	})
	return lots
}

// partsOf gives the feeds of a host their parts. Those that only one peer offers, which
// may be made up, have no more than the others together.
func (h *Snapshot) partsOf(host string) hostParts {
	lots := h.lots(host)
	if len(lots) < 2 {
		return hostParts{}
	}
	shared, sole := uint64(0), uint64(0)
	all, ofShared := map[feedring.PeerID]uint64{}, map[feedring.PeerID]uint64{}
	for _, l := range lots {
		n := uint64(len(l.urls))
		if len(l.by) < 2 {
			sole += n
			all[l.by[0]] += n
			continue
		}
		shared += n
		for _, p := range l.by {
			all[p] += n
			ofShared[p] += n
		}
	}
	parts, mayFetch := hostParts{feeds: map[string]Part{}}, 0
	for p, n := range all {
		if ofShared[p] == shared {
			mayFetch++
		}
		parts.one = parts.one || n == shared+sole
	}
	// Where the shared feeds may be fetched by another than the sole ones, both ask the host.
	parts.one = parts.one && (sole == 0 || mayFetch < 2)
	weight := uint64(1)
	if shared > 0 {
		weight = max(1, (sole+shared-1)/shared)
	}
	before, total := uint64(0), shared*weight+sole
	for _, l := range lots {
		n := uint64(len(l.urls))
		if len(l.by) > 1 {
			n *= weight
		}
		part := Part{uint32(before * whole / total), uint32(max(n*whole/total, leastPart))}
		for _, url := range l.urls {
			parts.feeds[url] = part
		}
		before += n
	}
	return parts
}

// mirrors lists the peers that are present and may fetch a feed; none if the site's own
// peer does.
func (h *Snapshot) mirrors(offers []catalogue.Publication) (peers []feedring.PeerID) {
	for _, f := range offers {
		switch {
		case f.Away:
		case h.Vouched[f.Ref] != "":
			return nil
		default:
			peers = append(peers, f.Ref.Publisher)
		}
	}
	return peers
}

// eachFeed goes over the feeds of a host in order of their addresses, with the offers of each.
func (h *Snapshot) eachFeed(host string, each func(offers []catalogue.Publication)) {
	for _, scheme := range []string{"http://", "https://"} {
		prefix := scheme + host + "/"
		i, _ := h.Index.Find(feedring.FeedRef{URL: prefix})
		for feeds := h.Index.Feeds; i < len(feeds) && strings.HasPrefix(feeds[i].Ref.URL, prefix); {
			offers := h.offers(feeds[i].Ref.URL)
			i += len(offers)
			each(offers)
		}
	}
}

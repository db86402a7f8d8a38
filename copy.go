package feedring

// Copy is what tells the copies of one entry apart: those of one identity, which is the
// feed's first address and the id. Each publisher of a feed has a copy of its own.
type Copy struct {
	Publisher uint64 // stands for the peer that signed it
	Version   uint32 // counts within the copy, and means nothing beside another's
	Story     uint64 // stands for its link and its title: copies agree where theirs are the same
	Seen      int64  // when its publisher had this version, Unix milliseconds
	OfSite    bool   // this reader saw the site name the publisher, or its peer made the copy
}

// Relation is what an entry is to one of the same identity that is shown.
type Relation uint8

// The relations.
const (
	Counts   Relation = iota // the shown one counts for it: it is not shown
	Replaces                 // it takes the place of the shown one
	Apart                    // both are shown, each with its host
)

// Supersedes says what b is to a, a copy of the same identity that is shown or held.
// What others sign changes nothing of the site's copy: it takes the place of mirrors'
// copies, and none takes its place, whatever version they claim. Mirrors' copies count
// as one where they agree; otherwise nobody knows which is right, and both are shown. Of
// differing copies of a site's own peers the later counts.
func Supersedes(b, a Copy) Relation {
	switch {
	case a.Publisher == b.Publisher:
		if b.Version > a.Version {
			return Replaces
		}
		return Counts
	case a.OfSite && b.OfSite && a.Story != b.Story && b.Seen > a.Seen:
		return Replaces
	case a.OfSite:
		return Counts
	case b.OfSite:
		return Replaces
	case a.Story == b.Story:
		return Counts
	}
	return Apart
}

package seen

import (
	"fmt"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
)

// Very many copies by others make a follower forget neither the site's copy nor that it
// was shown.
func TestShownKeepsTheSitesCopy(t *testing.T) {
	s := New(false)
	site := feedring.Entry{ID: "1", Feed: "https://a.example/feed", Title: "true", Publisher: "site", Version: 1, OfSite: true}
	s.Add(&site)
	for i := range 10 * maxCopies {
		squat := feedring.Entry{ID: site.ID, Feed: site.Feed, Title: fmt.Sprint(i), Publisher: feedring.PeerID(fmt.Sprint(i)), Version: 1 << 20}
		if wanted, _ := s.Wants(&squat, true); wanted {
			t.Fatalf("copy %d of others is shown beside the site's", i)
		}
		s.Count(&squat)
	}
	if wanted, _ := s.Wants(&site, true); wanted {
		t.Error("the site's copy is shown twice")
	}
	if known, _ := s.byIdentity.Peek(duplicate.IdentityOf(site.Feed, site.ID)); len(known.copies) > maxCopies {
		t.Errorf("%d copies are remembered", len(known.copies))
	}
}

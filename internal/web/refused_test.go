package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/refusals"
)

// The owner is told what was refused most, and nobody else.
func TestStatusTellsWhatWasRefused(t *testing.T) {
	var counts refusals.Counts
	for i, what := range []refusals.Count{
		{Door: refusals.HTTP, Reason: refusals.Token}, {Door: refusals.Useless, Reason: refusals.Share},
		{Door: refusals.HTTP, Reason: refusals.Host}, {Door: refusals.Block, Reason: refusals.Key},
		{Door: refusals.Stream, Reason: refusals.Share}, {Door: refusals.Connection, Reason: refusals.Share}, {Door: refusals.Stream, Reason: refusals.Full},
	} {
		for range i + 1 {
			counts.Add(what.Door, what.Reason)
		}
		if adviceOn(what.Door, what.Reason) == "" {
			t.Errorf("%v has no advice", what)
		}
	}
	most := refusedMost(counts.LastHour())
	if len(most) != mostRefused || most[0].Reason != refusals.Full || most[0].Times != 7 || most[1].Door != refusals.Connection {
		t.Errorf("%+v", most)
	}
	h := testSite(newFake(), false)
	h.Refused = &counts
	if got := call(t, h, "GET", "/api/v1/status", "", withToken); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"refused_last_hour":[{"door":"stream","reason":"full","times":7,"advice":"if it lasts`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := call(t, h, "GET", "/api/v1/status", ""); strings.Contains(got.Body.String(), "refused_last_hour") {
		t.Errorf("a stranger is told %s", got.Body)
	}
}

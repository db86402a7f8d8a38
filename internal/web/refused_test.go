package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/refusals"
)

func TestEveryRefusalHasAdvice(t *testing.T) {
	for _, what := range refusals.Known {
		if adviceOn(what.Where, what.Reason) == "" {
			t.Errorf("%s, %s: add advice to adviceOn", what.Where, what.Reason)
		}
	}
}

// The owner is told what was refused most, and nobody else.
func TestStatusTellsWhatWasRefused(t *testing.T) {
	var counts refusals.Counts
	for i, what := range []refusals.Count{
		{Where: refusals.HTTP, Reason: refusals.Token}, {Where: refusals.Useless, Reason: refusals.Share},
		{Where: refusals.HTTP, Reason: refusals.Host}, {Where: refusals.Block, Reason: refusals.Key},
		{Where: refusals.Stream, Reason: refusals.Share}, {Where: refusals.Connection, Reason: refusals.Share}, {Where: refusals.Stream, Reason: refusals.Full},
	} {
		for range i + 1 {
			counts.Add(what.Where, what.Reason)
		}
	}
	most := refusedMost(counts.LastHour())
	if len(most) != mostRefused || most[0].Reason != refusals.Full || most[0].Times != 7 || most[1].Where != refusals.Connection {
		t.Errorf("%+v", most)
	}
	h := testSite(newFake(), false)
	h.Refused = &counts
	if got := call(t, h, "GET", "/api/v1/status", "", withToken); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"refused_last_hour":[{"where":"stream","reason":"full","times":7,"advice":"if it lasts`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := call(t, h, "GET", "/api/v1/status", ""); strings.Contains(got.Body.String(), "refused_last_hour") {
		t.Errorf("a stranger is told %s", got.Body)
	}
}

package promise

import (
	"reflect"
	"testing"
)

func TestHalfOfTheNotifiesDropped(t *testing.T) {
	cfg := Short().Notifies
	got, err := Notifies(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range got {
		if want := []float64{0, 0.5, 1}[i]; float64(row.Lost) < (want-0.1)*float64(row.Notifies) || float64(row.Lost) > (want+0.1)*float64(row.Notifies) {
			t.Errorf("%d of %d notifies were lost, not %v of them", row.Lost, row.Notifies, want)
		}
		if row.Entries < 200 || row.Complete.Count != row.Entries || !row.Kept() {
			t.Errorf("%+v", row)
		}
	}
	// Without a notify the next beacon tells.
	if none, all := got[0].Complete.Max, got[2].Complete.P50; none > 0.1 || all < 0.2 {
		t.Errorf("complete after %v periods with all notifies, %v without", none, all)
	}
	again, _ := Notifies(cfg, nil)
	if !reflect.DeepEqual(got, again) {
		t.Error("another result with the same seed")
	}
}

func TestStarvedDeposesNobody(t *testing.T) {
	cfg := Short().Starved
	got, err := Starved(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Refreshes < 3000 || got.Lost < got.Messages/25 || got.Lost > got.Messages/16 {
		t.Errorf("%+v", got)
	}
	if !got.Kept() {
		t.Errorf("%d managers were deposed that lived", got.False)
	}
	// A refresh a period, and a period of patience: each delay is a silence.
	if got.Paper.Silences == 0 || got.Sparse.Silences < got.Refreshes/3/4 {
		t.Errorf("the paper's rule: %+v, a refresh a period: %+v", got.Paper, got.Sparse)
	}
}

func TestStarvedNodesAndLossAreFelt(t *testing.T) {
	cfg := DefaultStarved()
	cfg.Groups, cfg.Refreshes, cfg.Loss = 2, 1000, 0.6
	got, err := Starved(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Kept() || got.Intentions == 0 {
		t.Errorf("nobody was deposed though most messages were lost: %+v", got)
	}
}

func TestQueriesUnderChurn(t *testing.T) {
	cfg := Short().Queries
	got, err := Queries(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Kept() || got.Shares != 1 {
		t.Errorf("%+v", got)
	}
	if got.Crashes < 20 || got.Departures < 20 || got.Answered < got.Queries/2 || got.Unsatisfied < got.Queries/4 || got.Again == 0 {
		t.Errorf("%+v", got)
	}
}

func TestSplitHeals(t *testing.T) {
	cfg := Short().Split
	got, err := Split(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range got {
		if row.Managed < 5 || row.Both.Count < row.Managed || row.Both.Max <= 0 || !row.Kept() {
			t.Errorf("%+v", row)
		}
	}
}

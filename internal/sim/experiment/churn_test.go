package experiment

import (
	"reflect"
	"testing"
	"time"
)

func TestChurn(t *testing.T) {
	cfg := DefaultChurn()
	cfg.HalfLives, cfg.Groups, cfg.Peers, cfg.Length = []time.Duration{10 * time.Minute}, 2, 6, 2*time.Hour
	got, err := Churn(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	row := got.Rows[0]
	// 12 peers that are up 14.4 of 16.4 minutes on average: about 88 crashes in two hours.
	if row.Crashes < 55 || row.Crashes > 120 || row.OfManagers == 0 || row.OfManagers > row.Crashes/2 {
		t.Errorf("%d crashes, %d of managers", row.Crashes, row.OfManagers)
	}
	r := cfg.Refresh.Seconds()
	if row.Claim.Count == 0 || row.Claim.P50 < 0.95*r || row.Claim.P50 > 1.25*r {
		t.Errorf("takeover %+v, the refresh period is %v s", row.Claim, r)
	}
	if row.Followed.P50 < row.Claim.P50 || row.Without <= 0 || row.Without > 0.1 || row.Two > 0.05 {
		t.Errorf("%+v", row)
	}
	// Two delays there and back for notify and poll, and more than the least.
	if row.Entries == 0 || row.Delay.P50 < 3*cfg.Delay.Seconds() || row.Delay.P50 > 1 || row.CatchUp.Count == 0 {
		t.Errorf("entries: %+v", row)
	}
	if row.Missing != 0 {
		t.Errorf("%d entries did not reach a peer within two periods", row.Missing)
	}
	again, _ := Churn(cfg, nil)
	if !reflect.DeepEqual(got, again) {
		t.Error("another result with the same seed")
	}
}

func TestChurnRefusesWhatCannotBe(t *testing.T) {
	cfg := DefaultChurn()
	cfg.Peers = 1
	if _, err := Churn(cfg, nil); err == nil {
		t.Error("groups of one peer were accepted")
	}
	cfg = DefaultChurn()
	cfg.HalfLives = []time.Duration{0}
	if _, err := Churn(cfg, nil); err == nil {
		t.Error("a half-life of 0 was accepted")
	}
}

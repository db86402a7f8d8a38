package admin

import (
	"strings"
	"testing"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
)

// TestCostOfNoVouch: who is not named is told what that means in its network.
func TestCostOfNoVouch(t *testing.T) {
	const guest, mirror = "it is a guest of this vouched network", "its entries carry no vouched_by"
	missing, named := api.Site{Site: "a.example", Error: "404"}, api.Site{Site: "b.example", Vouched: true, Way: "dns"}
	for _, test := range []struct {
		v            api.Vouching
		says, saysNo string
	}{
		{api.Vouching{Sites: []api.Site{missing, named}}, mirror, guest},
		{api.Vouching{Sites: []api.Site{named}}, "b.example names this peer (dns)", "Until"},
		{api.Vouching{Sites: []api.Site{missing}, Required: true}, guest, mirror},
		{api.Vouching{Required: true}, guest, mirror},
		{api.Vouching{Sites: []api.Site{missing, named}, Required: true}, "a.example does not name this peer yet", "Until"},
	} {
		var out strings.Builder
		a := &commands{&command.Env{Stdout: &out}}
		if err := a.printSites(test.v); err != nil {
			t.Error(err)
		}
		if got := out.String(); !strings.Contains(got, test.says) || strings.Contains(got, test.saysNo) {
			t.Errorf("%+v: %s", test.v, got)
		}
	}
}

package feedring_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/feedring/feedring"
)

func TestFinalEvent(t *testing.T) {
	grants := []feedring.Grant{
		{Provider: feedring.PeerInfo{ID: "A"}}, {Provider: feedring.PeerInfo{ID: "B"}}, {Provider: feedring.PeerInfo{ID: "A"}},
	}
	tests := []struct {
		name  string
		final feedring.Final
		theme feedring.Theme
		want  string
	}{
		{
			"answered", feedring.Final{Status: feedring.Answered, Grants: grants[:1], Hops: 3, Messages: 7}, "news",
			`{"event":"answered","via":"A","theme":"news","hops":3,"messages":7,"entries":12}`,
		},
		{
			"answered without a theme", feedring.Final{Status: feedring.Answered, Grants: grants, Hops: 3, Messages: 7}, "",
			`{"event":"answered","via":["A","B"],"hops":3,"messages":7,"entries":12}`,
		},
		{
			"answered by nobody named", feedring.Final{Status: feedring.Answered}, "",
			`{"event":"answered","via":[],"hops":0,"messages":0,"entries":12}`,
		},
		{
			"unsatisfied", feedring.Final{Status: feedring.Unsatisfied, Hops: 10, Messages: 22}, "news",
			`{"event":"unsatisfied","hops":10,"messages":22}`,
		},
		{
			"incomplete", feedring.Final{Status: feedring.Incomplete, Missing: []string{"weather"}, Hops: 4, Messages: 9, Grants: grants}, "",
			`{"event":"incomplete","missing":["weather"],"hops":4,"messages":9,"entries":12}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			event := feedring.FinalEvent(tt.final, tt.theme, 12)
			got, err := json.Marshal(event)
			if err != nil || string(got) != tt.want {
				t.Fatalf("got %s, %v; want %s", got, err, tt.want)
			}
			var back feedring.Event
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			if again, _ := json.Marshal(back); string(again) != tt.want {
				t.Errorf("read and written again: %s", again)
			}
			if !reflect.DeepEqual(back.Missing, event.Missing) {
				t.Errorf("missing %v, want %v", back.Missing, event.Missing)
			}
		})
	}
}

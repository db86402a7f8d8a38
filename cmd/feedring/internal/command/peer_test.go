package command

import (
	"testing"
)

// The own token is sent to no other machine unasked.
func TestOfThisMachine(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:7378": true, "http://localhost:1": true, "http://[::1]:1/": true,
		"https://news.example": false, "http://10.0.0.1": false, "http://localhost.example": false, "nonsense": false,
	} {
		if ofThisMachine(address) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
}

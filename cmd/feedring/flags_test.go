package main

import (
	"testing"
	"time"

	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
)

// Every key of the file is a flag of serve, and the other way round.
func TestKeys(t *testing.T) {
	serve, _, err := newRoot(&command.Env{Now: time.Now}).Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range options.Keys() {
		if serve.Flag(key) == nil {
			t.Errorf("key %s is no flag of serve", key)
		}
	}
}

package main

import (
	"os"
	"testing"
)

// asCommand makes the tests' executable the command itself.
const asCommand = "FEEDRING_SIM_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// explainInterrupts makes SIGINT and SIGTERM end the program with a line that
// says so, unless a command takes them over with interrupts. What the program
// was started to ignore it goes on to ignore.
func explainInterrupts(stderr io.Writer) {
	caught := make(chan os.Signal, 1)
	notify(caught)
	go func() {
		s := <-caught
		_, _ = fmt.Fprintln(stderr, "\nfeedring-sim: interrupted: nothing is kept, run the command again")
		os.Exit(exitOf(s))
	}()
}

// exitOf is what a shell shows of a program that a signal ended.
func exitOf(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return exitFailure
}

// interrupts hands SIGINT and SIGTERM to a command that ends by itself and has
// something to show or to keep.
func interrupts() (caught chan os.Signal, stop func()) {
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	caught = make(chan os.Signal, 1)
	notify(caught)
	return caught, func() { signal.Stop(caught) }
}

func notify(caught chan<- os.Signal) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(s) {
			signal.Notify(caught, s)
		}
	}
}

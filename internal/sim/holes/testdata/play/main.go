// Command play plays seeds of faults until one violates an invariant, and says
// which. The holes are built into it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime/debug"

	"github.com/feedring/feedring/internal/sim"
	"github.com/feedring/feedring/internal/sim/check"
)

func main() {
	from := flag.Uint64("from", 1, "the first seed")
	seeds := flag.Uint64("seeds", 1, "how many seeds at most")
	script := flag.String("script", "", "the script of what goes wrong; empty: faults by chance")
	twice := flag.Bool("twice", false, "play each seed twice: the same must happen")
	flag.Parse()
	debug.SetGCPercent(400)
	for seed := *from; seed < *from+*seeds; seed++ {
		o := play(*script, seed)
		switch {
		case *twice && play(*script, seed).Hash != o.Hash:
			tell(seed, "D1", "D1: the same seed is another run")
			return
		case o.Violation != nil:
			tell(seed, o.Violation.Invariant, o.Violation.Error())
			return
		}
	}
	tell(0, "", "")
}

// play plays one seed. A machine that panics violates everything.
func play(script string, seed uint64) (o sim.Outcome) {
	defer func() {
		if r := recover(); r != nil {
			o.Violation = &check.Violation{Invariant: "panic", Text: fmt.Sprint(r)}
		}
	}()
	if script == "" {
		return sim.Faults(seed, nil)
	}
	o, err := sim.Scripted(script, seed, nil)
	if err != nil {
		log.Fatal(err)
	}
	return o
}

// tell writes the one line of output. Seed 0: every invariant held.
func tell(seed uint64, invariant, text string) {
	line := struct {
		Seed            uint64
		Invariant, Text string
	}{seed, invariant, text}
	if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
		log.Fatal(err)
	}
}

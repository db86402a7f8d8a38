//go:build !race

package fetch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// What one fetch may cost, whatever comes: of a process that does nothing else,
// from the kernel, so that what else runs does not matter.
const (
	mostMemory = 64 << 20
	mostCPU    = 2 * time.Second
)

// In this variable a reader is told what of the answer is slow, and after a space whom to ask.
const readerVariable = "FEEDRING_TEST_READER"

func TestMain(m *testing.M) {
	if told, ok := os.LookupEnv(readerVariable); ok {
		if err := readAlone(told); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// alone is what a reader in a process of its own tells.
type alone struct {
	Outcome outcome
	Memory  int // most that was resident beyond the start, bytes
}

// readAlone fetches once, and tells what came and what memory it took.
func readAlone(told string) error {
	slow, address, _ := strings.Cut(told, " ")
	before, err := memory("VmRSS:")
	if err != nil {
		return err
	}
	got, err := hostileLook(context.Background(), address, slow)
	if err != nil {
		return err
	}
	most, err := memory("VmHWM:")
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(alone{got, most - before})
}

func memory(field string) (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), field)
	var kib int
	_, err = fmt.Sscan(rest, &kib)
	return kib << 10, err
}

// TestHostileCost: each class is refused, or read, within 64 MiB of memory and
// 2 s of CPU, those of starting a process included.
func TestHostileCost(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each class")
	}
	for _, g := range groups() {
		for _, c := range g.classes() {
			t.Run(strings.ReplaceAll(c.name, "/", "|"), c.measure)
		}
	}
}

func (c hostile) measure(t *testing.T) {
	reader := exec.Command(os.Args[0])
	reader.Env = append(os.Environ(), readerVariable+"="+c.slow+" "+hostileServer(t, c), fmt.Sprintf("GOMEMLIMIT=%d", mostMemory*3/4))
	reader.Stderr = os.Stderr
	out, err := reader.Output()
	if err != nil {
		t.Fatal(err)
	}
	var told alone
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatalf("%v: %q", err, out)
	}
	c.judge(t, told.Outcome)
	cpu := reader.ProcessState.UserTime() + reader.ProcessState.SystemTime()
	t.Logf("%d MiB, %v", told.Memory>>20, cpu.Round(time.Millisecond))
	if told.Memory > mostMemory || cpu > mostCPU {
		t.Errorf("took %d MiB and %v", told.Memory>>20, cpu)
	}
}

package store

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// poweredDir names the directory in which the process that TestPowerLoss starts mounts
// file systems that nobody else sees.
const poweredDir = "FEEDRING_STORE_POWER_DIR"

// power is a file system that loses what was not synced.
type power struct{ image, at string }

// end takes the power away: nothing that is in memory reaches the disk any more.
func (p power) end(child *exec.Cmd) error {
	f, err := os.Open(p.at)
	if err != nil {
		return err
	}
	defer f.Close()
	const shutdown = 0x8004587d        // EXT4_IOC_SHUTDOWN
	withoutFlushingTheLog := uint32(2) // EXT4_GOING_FLAGS_NOLOGFLUSH
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&withoutFlushingTheLog))); errno != 0 {
		return errno
	}
	return child.Process.Kill()
}

// recover mounts the file system again: its journal is played.
func (p power) recover(t *testing.T) {
	t.Helper()
	check(t, syscall.Unmount(p.at, 0))
	p.mount(t)
}

func (p power) mount(t *testing.T) {
	t.Helper()
	if out, err := shell(`mount -o loop "$1" "$2"`, p.image, p.at); err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
}

// make makes and mounts one, and returns a directory in it.
func (p power) make(t *testing.T) string {
	t.Helper()
	f, err := os.Create(p.image)
	check(t, err)
	check(t, errors.Join(f.Truncate(8<<30), f.Close())) // it takes what is written
	if out, err := shell(`mkfs.ext4 -q -F "$1"`, p.image); err != nil {
		t.Fatalf("mkfs.ext4: %v: %s", err, out)
	}
	check(t, os.Mkdir(p.at, 0o700))
	p.mount(t)
	t.Cleanup(func() { check(t, syscall.Unmount(p.at, syscall.MNT_DETACH)) })
	dir := filepath.Join(p.at, "store")
	check(t, os.Mkdir(dir, 0o700))
	return dir
}

// TestPowerLoss takes the power from a whole store, badger's files included, while it
// appends, while it forgets, erases and collects, in the middle of badger's compactions,
// and while it brings a former version up to date.
func TestPowerLoss(t *testing.T) {
	if dir := os.Getenv(poweredDir); dir != "" {
		for name, test := range map[string]func(*testing.T, string, crash){"appends": testAppends, "changes": testChanges, "compacts": testCompacts, "upgrade": testUpgrade} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := power{filepath.Join(dir, name+".img"), filepath.Join(dir, name)}
				test(t, p.make(t), p)
			})
		}
		return
	}
	t.Parallel()
	dir := t.TempDir()
	if missing := powerMissing(dir); missing != "" {
		if strings.Contains(os.Getenv("FEEDRING_REQUIRE"), "power") {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	child := exec.Command("unshare", "-m", os.Args[0], "-test.run=^TestPowerLoss$", "-test.v", "-test.timeout=1h")
	child.Env = append(os.Environ(), poweredDir+"="+dir)
	out, err := child.CombinedOutput()
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		t.Log(line)
	}
	check(t, err)
}

// powerMissing says what this machine lacks; empty: nothing.
func powerMissing(dir string) string {
	out, err := shell(`truncate -s 16M "$1/try" && mkfs.ext4 -q "$1/try" && mkdir "$1/at" && unshare -m mount -o loop "$1/try" "$1/at"`, dir)
	if err != nil {
		return "this machine mounts no file: " + strings.TrimSpace(string(out))
	}
	return ""
}

// shell runs a script with the tools of administrators.
func shell(script string, args ...string) ([]byte, error) {
	return exec.Command("sh", append([]string{"-c", "PATH=$PATH:/usr/sbin:/sbin; " + script, "sh"}, args...)...).CombinedOutput()
}

package integration

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Tests with programs of others (WordPress, Miniflux, Prometheus, Hugo) run
// them with data of their own, on loopback. "make realservers" installs them.

// tool is where a program is. Without it the test is skipped, or fails where
// FEEDRING_REQUIRE names the need.
func tool(t testing.TB, need, name string, elsewhere ...string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, pattern := range elsewhere {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	lacking(t, need, "%s is not installed (make realservers installs it)", name)
	return ""
}

// runServer starts a server. When the test ends, it and all that it started end.
func runServer(t testing.TB, stop syscall.Signal, cmd *exec.Cmd) *process {
	t.Helper()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Setpgid = true
	p := &process{cmd: cmd}
	p.run(t)
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, stop)
		select {
		case <-p.done:
		case <-time.After(10 * time.Second):
			t.Errorf("%s still runs after %s", cmd.Path, stop)
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // of its group
	})
	return p
}

// serverDir is a directory for a server that refuses to be root: by root's
// tests it is run as somebody else. Its path is short, since sockets are in it.
func serverDir(t testing.TB) (dir string, as *syscall.SysProcAttr) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fr-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Getuid() != 0 {
		return dir, new(syscall.SysProcAttr)
	}
	nobody, err := user.Lookup("nobody")
	must(t, err)
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	must(t, err)
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	must(t, err)
	must(t, os.Chown(dir, int(uid), int(gid)))
	return dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

// mustRun runs a program to its end.
func mustRun(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(cmd.Args, " "), err, tail(string(out)))
	}
	return string(out)
}

// freeAddress is an address that nobody listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// serves waits until a server answers at an address.
func (p *process) serves(t testing.TB, within time.Duration, url string) {
	t.Helper()
	until(t, within, url, func() bool {
		select {
		case <-p.done:
			t.Fatalf("%s ended: %s", p.cmd.Path, tail(p.errors()))
		default:
		}
		resp, err := http.Get(url)
		if err != nil {
			return false
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return resp.StatusCode < 500
	})
}

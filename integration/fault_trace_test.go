package integration

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sysCall is one system call of a trace. It was begun at one line and had ended
// at another; lines are in the order in which things happened in all threads.
type sysCall struct {
	name, args, result string
	begun, ended       int
	at                 time.Time // of its end
}

// trace is the system calls of a process, in the order of their ends.
type trace []sysCall

var (
	callLine    = regexp.MustCompile(`^(\d+) +(\d+)\.(\d+) (\w+)\((.*)$`)
	resumedLine = regexp.MustCompile(`^(\d+) +(\d+)\.(\d+) <\.\.\. (\w+) resumed>(.*)$`)
	resultPart  = regexp.MustCompile(`^(.*)\) += (-?\w+|\?).*$`)
)

const unfinished = " <unfinished ...>"

// readTrace reads what strace -f -ttt -o wrote.
func readTrace(text string) (calls trace) {
	open := make(map[string]sysCall) // by thread
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		var c sysCall
		m := resumedLine.FindStringSubmatch(line)
		if m != nil {
			c = open[m[1]]
			delete(open, m[1])
			if c.name != m[4] {
				continue // begun before the trace
			}
		} else if m = callLine.FindStringSubmatch(line); m != nil {
			c = sysCall{name: m[4], begun: number}
			if args, ok := strings.CutSuffix(m[5], unfinished); ok {
				c.args = args
				open[m[1]] = c
				continue
			}
		} else {
			continue // the end of a thread
		}
		c.at = moment(m[2], m[3])
		if m := resultPart.FindStringSubmatch(m[5]); m != nil {
			c.args, c.result, c.ended = c.args+m[1], m[2], number
			calls = append(calls, c)
		}
	}
	return calls
}

func moment(seconds, micros string) time.Time {
	s, _ := strconv.ParseInt(seconds, 10, 64)
	us, _ := strconv.ParseInt(micros, 10, 64)
	return time.Unix(s, us*1000)
}

// until is the last call that had ended by then.
func (t trace) until(then time.Time) (last sysCall) {
	for _, c := range t {
		if c.at.Before(then) && c.ended > last.ended {
			last = c
		}
	}
	return last
}

// first is the first call of one of these names, begun after a line, that has
// all these parts in its arguments. ok is false where there is none.
func (t trace) first(after int, names string, parts ...string) (found sysCall, ok bool) {
	for _, c := range t {
		if c.begun > after && strings.Contains(" "+names+" ", " "+c.name+" ") && containsAll(c.args, parts) && (!ok || c.begun < found.begun) {
			found, ok = c, true
		}
	}
	return found, ok
}

func containsAll(s string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(s, part) {
			return false
		}
	}
	return true
}

// syncs are those of the log that the store writes first, the whole of it.
func (t trace) syncs() (all trace) {
	log := make(map[string]bool) // by address
	for _, c := range t {
		address, _, _ := strings.Cut(c.args, ",")
		switch {
		case c.name == "mmap":
			log[c.result] = strings.Contains(c.args, ".mem>") && strings.Contains(c.args, "MAP_SHARED")
		case c.name == "msync" && log[address] && strings.Contains(c.args, "MS_SYNC") && c.result == "0":
			all = append(all, c)
		}
	}
	return all
}

// synced is the first sync that was begun after one line and had ended before
// another.
func (t trace) synced(after, before int) (found sysCall, ok bool) {
	for _, c := range t.syncs() {
		if c.begun > after && c.ended < before {
			return c, true
		}
	}
	return found, false
}

// sent is the bytes of datagrams to a port of loopback that were sent between
// two lines, those shorter than least left out.
func (t trace) sent(after, before int, port string, least int) (bytes int) {
	for _, c := range t {
		n, err := strconv.Atoi(c.result)
		if err == nil && n >= least && c.begun > after && c.begun < before && strings.HasPrefix(c.name, "send") &&
			strings.Contains(c.args, "htons("+port+")") {
			bytes += n
		}
	}
	return bytes
}

// straced starts a prepared peer under strace. The trace is whole once the peer
// was stopped.
func straced(t testing.TB, n *network, p *peer) (read func() trace) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		lacking(t, "strace", "strace is not here (package strace)")
	}
	if out, err := exec.Command("strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		lacking(t, "strace", "processes cannot be traced here: %v: %s", err, out)
	}
	path := filepath.Join(n.dir, filepath.Base(p.data)+".trace")
	// As a child of the peer's, it ends with the peer and not the other way round.
	p.process = &process{cmd: exec.Command("strace", append([]string{"-D", "-f", "-ttt", "--seccomp-bpf", "-y", "-s", "4096", "-o", path,
		"-e", "trace=mmap,msync,fsync,fdatasync,read,write,sendto,sendmsg,sendmmsg", "-e", "signal=none", binary}, p.args...)...)}
	p.run(t)
	n.ready(p)
	return func() trace {
		t.Helper()
		f, err := os.Open(path)
		must(t, err)
		defer f.Close()
		var text strings.Builder
		_, err = bufio.NewReader(f).WriteTo(&text)
		must(t, err)
		return readTrace(text.String())
	}
}

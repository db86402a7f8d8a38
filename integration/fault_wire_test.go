package integration

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openTUN makes a network device of the namespace that the calling thread is
// in. What is read from the file is what the machine sends, a packet at a time.
func openTUN(name string) (*os.File, error) {
	fd, err := syscall.Open("/dev/net/tun", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	var request struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], name)
	request.flags = syscall.IFF_TUN | syscall.IFF_NO_PI
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TUNSETIFF, uintptr(unsafe.Pointer(&request))); errno != 0 {
		_ = syscall.Close(fd)
		return nil, errno
	}
	// Only now may it be polled: a file without a device is always in error.
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// lossyNet is an internet whose wire is a lossy link: every packet between its machines
// goes through this process.
type lossyNet struct {
	*internet
	link *lossyLink
	far  bool // each machine is in a /24 of its own
}

func newLossyNet(t testing.TB, seed uint64, calm conditions) *lossyNet {
	t.Helper()
	if os.Getuid() != 0 {
		lacking(t, "netns", "network namespaces need root")
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		lacking(t, "netns", "the kernel makes no devices for programs: %v", err)
	}
	s := &lossyNet{internet: &internet{t: t}, link: newLossyLink(seed, calm)}
	t.Cleanup(func() {
		s.link.mu.Lock()
		defer s.link.mu.Unlock()
		t.Logf("the air passed %d packets and lost %d", s.link.passed, s.link.lost)
	})
	return s
}

// machine adds a machine whose only way out is the air.
func (s *lossyNet) machine(name string) *machine {
	s.t.Helper()
	if s.far {
		return s.at(name, fmt.Sprintf("25.7.%d.1", s.machines+1))
	}
	return s.at(name, fmt.Sprintf("25.7.0.%d", s.machines+1))
}

// at is machine with an address that is told.
func (s *lossyNet) at(name, addr string) *machine {
	s.t.Helper()
	s.machines++
	m := &machine{net: s.internet, space: s.space(name), addr: addr}
	var port *os.File
	m.inside(func() (err error) {
		port, err = openTUN("out")
		return err
	})
	s.t.Cleanup(func() { _ = port.Close() })
	s.ip("-n", m.space, "addr", "add", m.addr+"/8", "dev", "out")
	s.ip("-n", m.space, "link", "set", "out", "up")
	go s.link.attach(m.ip(), port)
	return m
}

// between changes the conditions one way.
func (s *lossyNet) between(from, to *machine, w conditions) { s.link.set(from.ip(), to.ip(), w) }

func (m *machine) ip() netip.Addr { return netip.MustParseAddr(m.addr) }

// mute lets nothing that m sends arrive at the others, who go on being heard by
// m: what m sends them goes to a card that nobody has. Nobody is told.
func (m *machine) mute(others ...*machine) {
	m.net.t.Helper()
	for _, to := range others {
		m.net.ip("-n", m.space, "neigh", "replace", to.addr, "lladdr", "02:00:00:00:00:01", "dev", "out", "nud", "permanent")
	}
}

// unmute ends mute.
func (m *machine) unmute(others ...*machine) {
	m.net.t.Helper()
	for _, to := range others {
		m.net.ip("-n", m.space, "neigh", "del", to.addr, "dev", "out")
	}
}

// cable pulls the machine's cable, or puts it back ("down", "up").
func (m *machine) cable(state string) {
	m.net.t.Helper()
	m.net.ip("-n", m.net.name("wire"), "link", "set", "to"+strings.TrimPrefix(m.addr, "25.7.0."), state)
}

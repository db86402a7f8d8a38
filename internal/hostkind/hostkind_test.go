package hostkind

import (
	"net/netip"
	"testing"
)

func TestKinds(t *testing.T) {
	for host, want := range map[string]Kind{
		"127.0.0.1": PrivateAddress, "10.0.0.1:80": PrivateAddress, "[fd00::1]:443": PrivateAddress, "fe80::1": PrivateAddress,
		"[::1]": PrivateAddress, "::ffff:192.168.0.1": PrivateAddress, "localhost": PrivateAddress, "LOCALHOST.:8080": PrivateAddress,
		"fe80::1%eth0": PrivateAddress, "0.0.0.0": Public, "100.64.0.1": Public,
		"100.128.0.1": Public, "172.32.0.1": Public, "::ffff:8.8.8.8": Public,
		"a.localhost": PrivateName, "printer.local": PrivateName, "Printer.Local.:80": PrivateName, "local": PrivateName,
		"db.corp.internal": PrivateName, "router.home.arpa": PrivateName,
		"example.org": Public, "example.org:80": Public, "notlocal": Public, "a.notlocal": Public, "8.8.8.8": Public, "[2001:db8::1]:80": Public, "": Public,
	} {
		if got := Of(host); got != want {
			t.Errorf("%q is of kind %d, not %d", host, got, want)
		}
	}
}

func TestPrefixes(t *testing.T) {
	for prefix, want := range map[string]bool{
		"10.1.0.0/16": true, "8.0.0.0/6": true, "0.0.0.0/0": true, "100.64.0.1/32": true, "::1/128": true, "::/0": true, "fd00::/48": true,
		"198.51.100.0/24": false, "11.0.0.0/8": false, "2001:db8::/32": false, "64:ff9b::/96": false,
	} {
		if got := HoldsPrivate(netip.MustParsePrefix(prefix)); got != want {
			t.Errorf("%s: %t", prefix, got)
		}
	}
}

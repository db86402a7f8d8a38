package hostkind

import "testing"

func TestKinds(t *testing.T) {
	for host, want := range map[string]Kind{
		"127.0.0.1": PrivateAddress, "10.0.0.1:80": PrivateAddress, "[fd00::1]:443": PrivateAddress, "fe80::1": PrivateAddress,
		"[::1]": PrivateAddress, "::ffff:192.168.0.1": PrivateAddress, "localhost": PrivateAddress, "LOCALHOST.:8080": PrivateAddress,
		"a.localhost": PrivateName, "printer.local": PrivateName, "Printer.Local.:80": PrivateName, "local": PrivateName,
		"db.corp.internal": PrivateName, "router.home.arpa": PrivateName,
		"example.org": Public, "example.org:80": Public, "notlocal": Public, "a.notlocal": Public, "8.8.8.8": Public, "[2001:db8::1]:80": Public, "": Public,
	} {
		if got := Of(host); got != want {
			t.Errorf("%q is of kind %d, not %d", host, got, want)
		}
	}
}

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const nginxConfig = `daemon off; %[3]sworker_processes 2; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 100000000; sendfile on; tcp_nopush on; gzip_static on; open_file_cache max=10;
  client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  types { application/rss+xml xml; }
  server { listen %[2]s; root %[1]s/www; }
  server { listen %[4]s ssl; ssl_certificate %[1]s/site.pem; ssl_certificate_key %[1]s/site.pem; %[5]s }
  %[6]s
}
`

// site is an nginx that was started, by the places where it answers.
type site struct {
	document string // address of the document
	secured  string // host and port that speak TLS
	trusted  *x509.CertPool
}

// nginxProgram is the system's nginx; empty: there is none.
func nginxProgram() string {
	path, err := exec.LookPath("nginx")
	if err != nil {
		path, _ = exec.LookPath("/usr/sbin/nginx") // which users' PATH lacks
	}
	return path
}

// nginx starts nginx with a document that is compressed already. By TLS it serves what
// its rules say of the servers behind it; the document, where they are empty.
func (b *bench) nginx(plain, zipped []byte, rules, servers string) site {
	www, open, secured, user := filepath.Join(b.dir, "www"), freeAddress(), freeAddress(), ""
	if os.Geteuid() == 0 {
		user = "user root; "
	}
	if rules == "" {
		rules = "root " + www + ";"
	}
	check(os.Mkdir(www, 0o755))
	check(os.WriteFile(filepath.Join(www, "feed.xml"), plain, 0o600))
	check(os.WriteFile(filepath.Join(www, "feed.xml.gz"), zipped, 0o600))
	certificate, trusted := selfSigned()
	check(os.WriteFile(filepath.Join(b.dir, "site.pem"), certificate, 0o600))
	config := filepath.Join(b.dir, "nginx.conf")
	check(os.WriteFile(config, fmt.Appendf(nil, nginxConfig, b.dir, open, user, secured, rules, servers), 0o600))
	b.start(func(string) {}, nginxProgram(), "-c", config, "-p", b.dir)
	b.until(startWithin, "nginx", func() bool {
		conn, err := net.Dial("tcp", secured)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return site{document: "http://" + open + "/feed.xml", secured: secured, trusted: trusted}
}

// selfSigned makes a certificate for this machine and its key, both in PEM, and a pool
// that trusts it.
func selfSigned() (both []byte, trusted *x509.CertPool) {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der := must(x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key))
	both = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	both = append(both, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(key))})...)
	trusted = x509.NewCertPool()
	trusted.AddCert(must(x509.ParseCertificate(der)))
	return both, trusted
}

package fetch

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/safehttp"
)

const (
	originOf     = "FEEDRING_TEST_ORIGIN" // in the environment: be the origin, for plain requests or with certificates from this folder
	originHosts  = 20_000                 // all of 127/8, so that each fetch needs a connection of its own
	looksAtOnce  = 16
	originHeader = "feed origin at "
)

// BenchmarkRate asks hosts one after the other whether their feed changed, as a
// Watcher does, each over a new connection; none did. The origin is another
// process. Told are the requests a second by the clock, and what the processor
// time of this process alone would allow on two cores.
func BenchmarkRate(b *testing.B) {
	dir := b.TempDir()
	newAuthority(b, dir)
	b.Setenv("SSL_CERT_FILE", filepath.Join(dir, "root.pem")) // which is read once
	b.Run("plain", func(b *testing.B) { benchRate(b, "http", "plain") })
	b.Run("tls", func(b *testing.B) { benchRate(b, "https", dir) })
}

func benchRate(b *testing.B, scheme, origin string) {
	port := startOrigin(b, origin)
	client, err := safehttp.New(safehttp.Config{AllowPrivate: true, MaxConnsPerHost: 4})
	if err != nil {
		b.Fatal(err)
	}
	f := NewFetcher(client, nil)
	var failed atomic.Pointer[error]
	var wait sync.WaitGroup
	places := make(chan struct{}, looksAtOnce)
	b.ResetTimer()
	began, cpu := time.Now(), spent()
	for i := range b.N {
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			url := fmt.Sprintf("%s://127.%d.%d.%d:%s/feed.xml", scheme, 1+i%originHosts/40_000, 1+i%originHosts/200, 1+i%originHosts%200, port)
			state := State{URL: url, LastSuccess: began, Validators: Validators{ETag: `"1"`}}
			if answer, err := f.Fetch(b.Context(), url, &state); err != nil || answer.Document != nil {
				err = cmp.Or(err, fmt.Errorf("%s sent a document", url))
				failed.Store(&err)
			}
		})
	}
	wait.Wait()
	if err := failed.Load(); err != nil {
		b.Fatal(*err)
	}
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "req/s")
	b.ReportMetric(2*float64(b.N)/(spent()-cpu).Seconds(), "req/s-of-2-cores")
}

// spent is the processor time of this process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// startOrigin runs TestOrigin in a process of its own, and returns its port.
func startOrigin(b *testing.B, origin string) (port string) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestOrigin$", "-test.v")
	cmd.Env = append(os.Environ(), originOf+"="+origin)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if at, ok := strings.CutPrefix(lines.Text(), originHeader); ok {
			return at
		}
	}
	b.Fatal("no origin")
	return ""
}

// TestOrigin is the origin of BenchmarkRate.
func TestOrigin(t *testing.T) {
	dir := os.Getenv(originOf)
	if dir == "" {
		t.Skip("it is the origin of a benchmark")
	}
	l, err := net.Listen("tcp4", ":0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"1"` {
			w.Header().Set("Etag", `"1"`)
			w.WriteHeader(http.StatusNotModified)
		}
	})}
	if dir != "plain" {
		a := readAuthority(t, dir)
		server.TLSConfig = &tls.Config{GetCertificate: a.certificate}
		l = tls.NewListener(l, server.TLSConfig)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	fmt.Println(originHeader + port)
	go func() { _ = server.Serve(l) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// authority makes certificates for the addresses that it is asked for: behind an
// intermediate one, as those of the web are.
type authority struct {
	key  *ecdsa.PrivateKey
	mid  *x509.Certificate
	mu   sync.Mutex
	made map[string]*tls.Certificate
}

func newAuthority(b *testing.B, dir string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	root := template("root", true)
	for name, t := range map[string]*x509.Certificate{"root": root, "mid": template("mid", true)} {
		raw, err := x509.CreateCertificate(rand.Reader, t, root, &key.PublicKey, key)
		if err != nil {
			b.Fatal(err)
		}
		writePEM(b, filepath.Join(dir, name+".pem"), "CERTIFICATE", raw)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		b.Fatal(err)
	}
	writePEM(b, filepath.Join(dir, "key.pem"), "PRIVATE KEY", raw)
}

func template(name string, authority bool) *x509.Certificate {
	t := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, IsCA: authority, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	t.Subject.CommonName = name
	return t
}

func writePEM(b *testing.B, file, kind string, raw []byte) {
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600); err != nil {
		b.Fatal(err)
	}
}

func readAuthority(t *testing.T, dir string) *authority {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "mid.pem"), filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	return &authority{key: pair.PrivateKey.(*ecdsa.PrivateKey), mid: pair.Leaf, made: make(map[string]*tls.Certificate)}
}

func (a *authority) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	ip := hello.Conn.LocalAddr().(*net.TCPAddr).IP.To4()
	a.mu.Lock()
	defer a.mu.Unlock()
	if made := a.made[ip.String()]; made != nil {
		return made, nil
	}
	t := template(ip.String(), false)
	t.IPAddresses = []net.IP{bytes.Clone(ip)}
	raw, err := x509.CreateCertificate(rand.Reader, t, a.mid, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	made := &tls.Certificate{Certificate: [][]byte{raw, a.mid.Raw}, PrivateKey: a.key}
	a.made[ip.String()] = made
	return made, nil
}

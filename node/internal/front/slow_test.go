package front

import (
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/front/plain"
)

// TestSlowReaderOfAPoll: one who reads slowly gets all of it, and one who stops loses
// the connection and its place.
func TestSlowReaderOfAPoll(t *testing.T) {
	feeds, err := cache.Open(cache.Config{Dir: t.TempDir()})
	check(t, err)
	path := feeds.Offer("https://a.example/feed", "a.example")
	large := "<rss>" + strings.Repeat("x", 1<<20) + "</rss>"
	feeds.Take("https://a.example/feed", cache.Fetched{Body: []byte(large), At: time.Now()})
	synctest.Test(t, func(t *testing.T) {
		p := testPlaces(64)
		l := p.Listener.(*remotes)
		plain.Serve(p, feeds, web.Handler(web.Config{}), "", slog.New(slog.DiscardHandler))
		for _, stops := range []bool{false, true} {
			c, there := net.Pipe()
			l.conns <- remote{there, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}}
			_, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
			check(t, err)
			piece, read := make([]byte, 32<<10), 0
			for !stops || read == 0 {
				n, err := c.Read(piece)
				if read += n; err != nil {
					break
				}
				time.Sleep(20 * time.Second)
			}
			if stops {
				time.Sleep(2 * time.Hour)
				rest, err := io.ReadAll(c)
				if err != nil || read+len(rest) > len(large) {
					t.Errorf("%d bytes after stopping, %v", len(rest), err)
				}
			} else if read < len(large) {
				t.Errorf("%d bytes of %d for a slow reader", read, len(large))
			}
			synctest.Wait()
			p.mu.Lock()
			if p.held != 0 {
				t.Errorf("%d places are held", p.held)
			}
			p.mu.Unlock()
			_ = c.Close()
		}
		close(l.conns) // ends the server
	})
}

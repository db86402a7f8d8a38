package watch

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
)

// TestADeltaThatIsNone: who answers with a delta that was not asked for, or that
// cannot be read, is asked for the whole the next time.
func TestADeltaThatIsNone(t *testing.T) {
	for name, c := range map[string]struct{ validator, value, asked, body string }{
		"not asked for": {"Last-Modified", "Sat, 01 Jan 2000 00:00:00 GMT", "If-Modified-Since", rssDoc},
		"broken":        {"Etag", `"x"`, "If-None-Match", "<rss><channel>"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, h := &fakeOrigins{}, &recorder{}
				f.answer = func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set(c.validator, c.value)
					if r.Header.Get(c.asked) != "" {
						w.WriteHeader(http.StatusIMUsed)
						_, _ = io.WriteString(w, c.body)
						return
					}
					_, _ = io.WriteString(w, rssDoc)
				}
				w, _ := watch(t, f, Fixed(time.Minute), h)
				w.Add("http://a.example/", fetch.State{})
				time.Sleep(time.Minute + time.Second)
				synctest.Wait()
				if s := h.last(); f.count() != 2 || s.Failures != 1 {
					t.Fatalf("%d looks, %+v", f.count(), s)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if s := h.last(); f.count() != 3 || s.Failures != 0 {
					t.Errorf("%d looks, %s", f.count(), s.LastError)
				}
			})
		})
	}
}

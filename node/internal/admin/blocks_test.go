package admin

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/blocking"
)

// memory keeps records.
type memory map[string][]byte

func (m memory) Value(_ store.Bucket, key string) ([]byte, error) {
	if value, ok := m[key]; ok {
		return value, nil
	}
	return nil, store.ErrNotFound
}

func (m memory) Put(_ context.Context, _ store.Bucket, key string, value []byte) error {
	m[key] = value
	return nil
}

func (m memory) Delete(_ context.Context, _ store.Bucket, key string) error {
	delete(m, key)
	return nil
}

// fading answers once.
type fading struct{ asked int }

func (f *fading) Do(*http.Request) (*http.Response, error) {
	if f.asked++; f.asked > 1 {
		return nil, errors.New("no such host: secret.example")
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`[{"block":"spam.example"}]`))}, nil
}

type noMembers struct{ Members }

func (noMembers) Warnings() []string { return nil }

// What anybody may read says that a list cannot be read, and not which. Its owner is told.
func TestWarningsNameNoList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const list = "https://lists.example/secret"
		b, err := blocking.Open(memory{}, &refusals.Counts{})
		if err != nil {
			t.Fatal(err)
		}
		b.Reach(&fading{}, slog.New(slog.DiscardHandler))
		if _, err := b.Follow(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go b.ReadLists(ctx)
		time.Sleep(25 * time.Hour) // virtual
		d := &Admin{cfg: Config{Blocks: b, Members: noMembers{}}}
		if all := d.warnings(); len(all) != 1 || strings.Contains(all[0], "secret") || !strings.Contains(all[0], "feedring block list") {
			t.Errorf("warnings: %q", all)
		}
		if all := d.BlockLists(); len(all) != 1 || all[0].List != list || !strings.Contains(all[0].Problem, "secret.example") {
			t.Errorf("the owner is told %+v", all)
		}
	})
}

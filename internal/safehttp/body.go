package safehttp

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrSlow is returned where a header or a body took longer than it may.
var ErrSlow = errors.New("too slow")

// body is a response's body with a time limit of its own.
type body struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// Read returns the reason where the request was given up, for instance ErrSlow.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		if cause := context.Cause(b.ctx); cause != nil {
			err = cause
		}
	}
	return n, err
}

func (b *body) Close() error {
	b.timer.Stop()
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}

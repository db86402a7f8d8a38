package safehttp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
)

// ErrHeader is returned for an answer whose header is larger than a reader takes.
var ErrHeader = fmt.Errorf("the answer's header is larger than %d KiB", maxHeader>>10)

// maxHeader is in bytes; interim answers count.
const maxHeader = 64 << 10

// inWords says for people what net/http says for programmers.
func inWords(err error) error {
	var garbage tls.RecordHeaderError
	broken, isBroken := strings.CutPrefix(err.Error(), "net/http: HTTP/1.x transport connection broken: ")
	switch {
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return ErrHeader
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("the origin closed the connection before it answered: %w", err)
	case errors.As(err, &garbage) && !strings.Contains(err.Error(), "HTTP response"):
		return fmt.Errorf("no TLS answer came: %w", err)
	case strings.Contains(err.Error(), "TLS handshake timeout"):
		return fmt.Errorf("%w: %w", ErrSlow, err)
	case isBroken:
		return fmt.Errorf("no HTTP answer came: %s", broken)
	}
	return err
}

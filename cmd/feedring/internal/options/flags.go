package options

import (
	"errors"
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

// Duration is a flag that feedring.ParseDuration reads.
type Duration time.Duration

// Set implements pflag.Value.
func (d *Duration) Set(s string) error {
	v, err := feedring.ParseDuration(s)
	*d = Duration(v)
	return err
}

// keepFlag is how long copies are kept; without it, while they are fresh. Zero is
// refused: it would be less than --freshness.
type keepFlag struct{ Duration }

func (k *keepFlag) Set(s string) error {
	err := k.Duration.Set(s)
	if err == nil && k.Duration <= 0 {
		err = errors.New("entries are kept while they are fresh (--freshness): choose more, or leave it away")
	}
	return err
}

// Type implements pflag.Value.
func (d *Duration) Type() string { return "duration" }

// String implements pflag.Value.
func (d *Duration) String() string { return show.Duration(time.Duration(*d)) }

// Timeout is a duration long enough for an answer.
type Timeout struct{ *Duration }

// Set implements pflag.Value.
func (t Timeout) Set(s string) error {
	if err := t.Duration.Set(s); err != nil {
		return err
	}
	if time.Duration(*t.Duration) < 100*time.Millisecond {
		return errors.New("give at least 100ms")
	}
	return nil
}

// Via is a flag that names through whom the network is asked.
type Via string

// Set implements pflag.Value.
func (v *Via) Set(s string) error {
	if s != client.AnyRelay {
		if err := CheckPeer(s); err != nil {
			return fmt.Errorf("%w; or any", err)
		}
	}
	*v = Via(s)
	return nil
}

// Type implements pflag.Value.
func (v *Via) Type() string { return "any|multiaddr" }

// String implements pflag.Value.
func (v *Via) String() string { return string(*v) }

// Time is a flag that feedring.ParseTime reads.
type Time struct {
	At  time.Time
	Now time.Time
}

// Set implements pflag.Value.
func (t *Time) Set(s string) (err error) {
	t.At, err = feedring.ParseTime(s, t.Now)
	return err
}

// Type implements pflag.Value.
func (t *Time) Type() string { return "time" }

// String implements pflag.Value.
func (t *Time) String() string {
	if t == nil || t.At.IsZero() {
		return ""
	}
	return t.At.Format(time.RFC3339)
}

package main

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

const day = 24 * time.Hour

// durationFlag is a flag that feedring.ParseDuration reads.
type durationFlag time.Duration

func (d *durationFlag) Set(s string) error {
	v, err := feedring.ParseDuration(s)
	*d = durationFlag(v)
	return err
}

// keepFlag is how long copies are kept; not given, they are while they are fresh.
// None for no time would be refused by what is fresh, so 0 is a slip.
type keepFlag struct{ durationFlag }

func (k *keepFlag) Set(s string) error {
	err := k.durationFlag.Set(s)
	if err == nil && k.durationFlag <= 0 {
		err = errors.New("entries are kept while they are fresh (--freshness): choose more, or leave it away")
	}
	return err
}

func (d *durationFlag) Type() string { return "duration" }

// String writes whole days as days, and never a unit that is zero.
func (d *durationFlag) String() string {
	v := time.Duration(*d)
	switch {
	case v == 0:
		return "0"
	case v%day == 0 && v > day:
		return strconv.Itoa(int(v/day)) + "d"
	}
	s := v.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// timeoutFlag is a duration in which an answer can come at all.
type timeoutFlag struct{ *durationFlag }

func (t timeoutFlag) Set(s string) error {
	if err := t.durationFlag.Set(s); err != nil {
		return err
	}
	if time.Duration(*t.durationFlag) < 100*time.Millisecond {
		return errors.New("give at least 100ms")
	}
	return nil
}

// timeFlag is a flag that feedring.ParseTime reads.
type timeFlag struct {
	at  time.Time
	now func() time.Time
}

func (t *timeFlag) Set(s string) (err error) {
	t.at, err = feedring.ParseTime(s, t.now())
	return err
}

func (t *timeFlag) Type() string { return "time" }

func (t *timeFlag) String() string {
	if t == nil || t.at.IsZero() {
		return ""
	}
	return t.at.Format(time.RFC3339)
}

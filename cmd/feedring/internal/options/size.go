package options

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Size is a flag of a number of bytes, in units of a thousand or of 1,024. Zero: not given.
type Size int64

// units are those of Size, the longest names first.
var units = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// errSize says how a size is written.
var errSize = errors.New("give a whole number and a unit, such as 500MB, 20GB or 1TiB")

// Set implements pflag.Value.
func (s *Size) Set(text string) error {
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 32)
		if err != nil {
			return errSize
		}
		if int64(n) > 1e15/u.bytes || int64(n)*u.bytes < 10e6 {
			return errors.New("choose between 10MB and 1000TB")
		}
		*s = Size(int64(n) * u.bytes)
		return nil
	}
	return errSize
}

// Type implements pflag.Value.
func (s *Size) Type() string { return "size" }

// String implements pflag.Value.
func (s *Size) String() string {
	if *s == 0 {
		return ""
	}
	for _, u := range units {
		if n := int64(*s); n%u.bytes == 0 && (n/u.bytes < 1000 || u.bytes == 1) {
			return fmt.Sprint(n/u.bytes, u.name)
		}
	}
	return fmt.Sprint(int64(*s), "B")
}

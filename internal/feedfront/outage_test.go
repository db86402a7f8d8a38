package feedfront

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"
)

// TestFullDiskIsToldOnce: also when a little room comes and goes; what else fails is told.
func TestFullDiskIsToldOnce(t *testing.T) {
	var o outage
	full, now := fmt.Errorf("write: %w", syscall.ENOSPC), time.Now()
	for i, test := range []struct {
		after time.Duration
		err   error
		told  bool
	}{
		{0, nil, false},
		{time.Second, full, true},
		{time.Hour, full, false},
		{time.Second, nil, false},
		{time.Second, full, false},
		{time.Second, errors.New("another"), true},
		{outageOver, nil, false},
		{time.Second, full, true},
	} {
		now = now.Add(test.after)
		if told := o.tell(test.err, now); told != test.told {
			t.Errorf("step %d: told: %v", i, told)
		}
	}
}

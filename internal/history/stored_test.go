package history

import (
	"testing"

	"github.com/feedring/feedring/internal/olddata"
	"github.com/feedring/feedring/internal/store"
)

func TestOldIndexKeepsEveryField(t *testing.T) {
	s := olddata.Store(t)
	for _, r := range olddata.Records(t, s, store.BucketHistory, manifestKey, 1) {
		m := olddata.SameJSON[manifest](t, r.Key, r.Value[:len(r.Value)-sumLen])
		if m.Version != 1 || m.Flushed == 0 || m.Next == 0 || len(m.Segments) == 0 {
			t.Errorf("the manifest: %+v", m)
		}
	}
	// What the old directory has no value for.
	olddata.SameJSON[manifest](t, "manifest", []byte(`{"Version":1,"Flushed":2,"Next":3,`+
		`"Rest":{"Second":4,"Nano":5,"Ref":6,"Epoch":7,"Sequence":8},"Segments":[9],"Gone":[{"From":10,"To":11}]}`))
	// It may hold words of what was taken back: it is removed, and built anew.
	h := &History{store: s, log: quiet}
	st, err := h.restore()
	if err != nil || len(st.segments) != 0 || st.rest == nil || len(st.gone) != 1 || st.gone[0] != everything {
		t.Errorf("the index of before is read: %+v, %v", st, err)
	}
}

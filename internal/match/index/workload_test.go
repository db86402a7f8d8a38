package index

import (
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/match/workload"
)

// fromWorkload makes up interests and entries for the index.
type fromWorkload struct{ *workload.Workload }

func newWorkload(seed uint64) fromWorkload { return fromWorkload{workload.New(seed)} }

func (w fromWorkload) interest() Interest {
	e, err := match.Parse(w.Conjunction())
	if err != nil {
		panic(err)
	}
	return Interest{Words: e}
}

// entry has n words, eight of them in the title.
func (w fromWorkload) entry(n int) *feedring.Entry {
	words := w.Text(n)
	words[0] = strings.ToUpper(words[0][:1]) + words[0][1:]
	return &feedring.Entry{
		Title:       strings.Join(words[:8], " "),
		ContentHTML: strings.Join(words[8:], " ") + ".",
	}
}

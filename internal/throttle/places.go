package throttle

import "sync"

// Places bounds how much of something is held at once: by all askers together, and by
// each of them. An asker without a name, the owner of this machine, is bounded by all
// alone. All methods may be called concurrently.
type Places struct {
	all, each int

	mu   sync.Mutex
	held int
	by   map[string]int
}

// NewPlaces returns free places.
func NewPlaces(all, each int) *Places {
	return &Places{all: all, each: each, by: make(map[string]int)}
}

// Taken says how an attempt to take a place ended.
type Taken int

// The ends of an attempt.
const (
	Got   Taken = iota // the caller gives it back
	Full               // all are held
	Share              // the asker holds as many as one may
)

// Take takes a place for an asker.
func (p *Places) Take(asker string) Taken {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case asker != "" && p.by[asker] >= p.each:
		return Share
	case p.held >= p.all:
		return Full
	}
	p.held++
	if asker != "" {
		p.by[asker]++
	}
	return Got
}

// Give gives back what an asker took.
func (p *Places) Give(asker string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held--
	if asker == "" {
		return
	}
	if p.by[asker]--; p.by[asker] == 0 {
		delete(p.by, asker)
	}
}

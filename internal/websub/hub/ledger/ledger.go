package ledger

import (
	"container/heap"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"time"
)

// Limits of the ledger, and the times by which it decides.
const (
	MaxSubscriptions = 1 << 17 // some 300 bytes each
	MaxAtHost        = 1 << 14 // of one host's callbacks: nobody fills the ledger alone

	AtOnce       = 32 // deliveries to hosts that answer
	doubtful     = 16 // to hosts that did not answer well the last time
	allAtOnce    = 256
	atHost       = 8                      // to one host
	atDoubtful   = 2                      // to one that did not answer well
	Patience     = 2 * time.Second        // after which a delivery counts as slow
	Spacing      = 250 * time.Millisecond // between deliveries of one topic to one subscriber
	firstRetry   = 10 * time.Second
	longestRetry = time.Hour
	GiveUp       = 72 * time.Hour // of failures only
)

// ErrFull refuses a subscription beyond the limits.
var ErrFull = errors.New("the hub has as many subscriptions as it keeps")

// Key names a subscription: there is one for each callback of a topic.
type Key [16]byte

// KeyOf hashes a topic and a callback.
func KeyOf(topic, callback string) Key {
	sum := sha256.Sum256([]byte(topic + "\x00" + callback))
	return Key(sum[:16])
}

// Subscription is who is told of what.
type Subscription struct {
	Topic    string // the address as the subscriber wrote it
	Resource string // what it shows: several topics may show the same
	Callback string
	Host     string // of the callback
	Secret   string // for signatures; empty: none
	Expires  time.Time
	Sent     uint64 // version of the content that the subscriber has
}

// Ledger keeps subscriptions. The caller locks.
type Ledger struct {
	rand      *rand.Rand
	subs      map[Key]*sub
	told      map[Key]Key // by KeyOf of resource and callback: under which topic a callback is told of a resource
	topics    map[string]*topic
	resources map[string][]*topic
	hosts     map[string]*host
	waiting   waiting
	clean     []*host // have something due, and a place for it
	dubious   []*host
	running   runs
}

// topic is an address, and who subscribes to it.
type topic struct {
	address, resource string
	subs              []*sub
	told              time.Time // when the last round began, or will
}

// sub is a subscription and where it stands.
type sub struct {
	key      Key
	topic    *topic
	at       int // in topic.subs
	host     *host
	callback string
	secret   string
	expires  int64 // Unix seconds
	sent     uint64
	due      time.Time // while it waits
	failing  int64     // Unix seconds, of the first failure; 0: none
	index    int32     // in waiting; -1: not there
	failures uint16
	state    state
	again    bool // the topic changed while it was told
}

type state uint8

const (
	idle    state = iota
	waits         // in Ledger.waiting
	queued        // in host.queue
	running       // handed out by Next
)

// New returns an empty ledger. source spreads retries and is used by nobody else.
func New(source rand.Source) *Ledger {
	return &Ledger{
		rand: rand.New(source), subs: make(map[Key]*sub), told: make(map[Key]Key), topics: make(map[string]*topic),
		resources: make(map[string][]*topic), hosts: make(map[string]*host),
	}
}

// HasRoomFor reports whether a subscription would be taken.
func (l *Ledger) HasRoomFor(topic, callback, hostname string) bool {
	if _, ok := l.subs[KeyOf(topic, callback)]; ok {
		return true
	}
	h := l.hosts[hostname]
	return len(l.subs) < MaxSubscriptions && (h == nil || h.subs < MaxAtHost)
}

// Put takes a subscription whose intent is verified, or renews it. A callback is told
// of a resource once, however many addresses that has: under another address the
// subscription of before is replaced, and returned. ErrFull.
func (l *Ledger) Put(s *Subscription) (replaced *Subscription, err error) {
	key, once := KeyOf(s.Topic, s.Callback), KeyOf(s.Resource, s.Callback)
	if before := l.subs[l.told[once]]; before != nil && before.key != key {
		was := before.told()
		replaced = &was
		l.Remove(before.key)
	}
	have := l.subs[key]
	if have == nil {
		if !l.HasRoomFor(s.Topic, s.Callback, s.Host) {
			return replaced, ErrFull
		}
		have = &sub{key: key, callback: s.Callback, host: l.host(s.Host), index: -1, sent: s.Sent}
		have.host.subs++
		l.subs[key], l.told[once] = have, key
		l.join(have, s)
	}
	have.secret, have.expires = s.Secret, s.Expires.Unix()
	return replaced, nil
}

func (l *Ledger) join(s *sub, as *Subscription) {
	t := l.topics[as.Topic]
	if t == nil {
		t = &topic{address: as.Topic, resource: as.Resource}
		l.topics[as.Topic] = t
		l.resources[as.Resource] = append(l.resources[as.Resource], t)
	}
	s.topic, s.at = t, len(t.subs)
	t.subs = append(t.subs, s)
}

// Get returns a subscription.
func (l *Ledger) Get(key Key) (Subscription, bool) {
	s := l.subs[key]
	if s == nil {
		return Subscription{}, false
	}
	return s.told(), true
}

func (s *sub) told() Subscription {
	return Subscription{
		Topic: s.topic.address, Resource: s.topic.resource, Callback: s.callback, Host: s.host.name, Secret: s.secret,
		Expires: time.Unix(s.expires, 0).UTC(), Sent: s.sent,
	}
}

// Len is the number of subscriptions.
func (l *Ledger) Len() int { return len(l.subs) }

// Has reports whether anybody subscribes to a resource.
func (l *Ledger) Has(resource string) bool { return len(l.resources[resource]) > 0 }

// Topics lists the addresses of a resource that somebody subscribes to.
func (l *Ledger) Topics(resource string) (addresses []string) {
	for _, t := range l.resources[resource] {
		addresses = append(addresses, t.address)
	}
	return addresses
}

// Resources lists what somebody subscribes to, in no order.
func (l *Ledger) Resources() []string {
	all := make([]string, 0, len(l.resources))
	for resource := range l.resources {
		all = append(all, resource)
	}
	return all
}

// Remove ends a subscription. One that is under way ends when it is done.
func (l *Ledger) Remove(key Key) {
	s := l.subs[key]
	if s == nil {
		return
	}
	delete(l.subs, key)
	l.unqueue(s)
	t := s.topic
	if once := KeyOf(t.resource, s.callback); l.told[once] == key {
		delete(l.told, once)
	}
	last := t.subs[len(t.subs)-1]
	t.subs[s.at], last.at = last, s.at
	t.subs[len(t.subs)-1] = nil
	t.subs = t.subs[:len(t.subs)-1]
	if len(t.subs) == 0 {
		l.dropTopic(t)
	}
	s.host.subs--
	l.tidy(s.host)
}

func (l *Ledger) dropTopic(t *topic) {
	delete(l.topics, t.address)
	of := l.resources[t.resource]
	for i := range of {
		if of[i] == t {
			of = append(of[:i], of[i+1:]...)
			break
		}
	}
	if len(of) == 0 {
		delete(l.resources, t.resource)
	} else {
		l.resources[t.resource] = of
	}
}

// Gone removes all subscriptions to a resource and returns them.
func (l *Ledger) Gone(resource string) (ended []Subscription) {
	for _, t := range append([]*topic(nil), l.resources[resource]...) {
		for len(t.subs) > 0 {
			s := t.subs[len(t.subs)-1]
			ended = append(ended, s.told())
			l.Remove(s.key)
		}
	}
	return ended
}

// Expired removes and returns the subscriptions whose lease is over.
func (l *Ledger) Expired(now time.Time) (ended []Subscription) {
	at := now.Unix()
	for _, s := range l.subs {
		if s.expires <= at {
			ended = append(ended, s.told())
		}
	}
	for i := range ended {
		l.Remove(KeyOf(ended[i].Topic, ended[i].Callback))
	}
	return ended
}

// Changed makes all who subscribe to a resource due. Those that are failing
// stay with the time of their next attempt.
func (l *Ledger) Changed(now time.Time, resource string) {
	for _, t := range l.resources[resource] {
		l.round(now, t, func(*sub) bool { return true })
	}
}

// Behind makes those due who have another version of a topic.
func (l *Ledger) Behind(now time.Time, address string, version uint64) {
	if t := l.topics[address]; t != nil {
		l.round(now, t, func(s *sub) bool { return s.sent != version })
	}
}

// round makes those due who want it, not sooner than Spacing after the last
// round: entries that come one by one are told by few deliveries.
func (l *Ledger) round(now time.Time, t *topic, wants func(*sub) bool) {
	due := t.told
	if !due.After(now) {
		if due = due.Add(Spacing); due.Before(now) {
			due = now
		}
	}
	for _, s := range t.subs {
		switch {
		case !wants(s):
		case s.state == running:
			s.again = true
		case s.state == idle:
			t.told = due
			l.wait(s, due)
		}
	}
}

func (l *Ledger) wait(s *sub, due time.Time) {
	s.state, s.due = waits, due
	heap.Push(&l.waiting, s)
}

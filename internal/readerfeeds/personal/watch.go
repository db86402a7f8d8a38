package personal

import "slices"

// Watch says whether Peer.Changed is called for a personal feed. A secret that
// opens nothing is not watched.
func (r *Reflector) Watch(secret string, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.bySecret[keyOfSecret(secret)]
	if s == nil {
		return
	}
	r.unwatch(s)
	if on {
		r.watched[s.interest] = append(r.watched[s.interest], secret)
	}
}

// unwatch reports whether a personal feed was watched.
func (r *Reflector) unwatch(s *subscription) bool {
	secrets := r.watched[s.interest]
	left := slices.DeleteFunc(slices.Clone(secrets), func(other string) bool { return other == s.secret })
	if r.watched[s.interest] = left; len(left) == 0 {
		delete(r.watched, s.interest)
	}
	return len(left) < len(secrets)
}

// notify says that a list shows something else.
func (r *Reflector) notify(in *interest) {
	for _, secret := range r.watched[in] {
		r.cfg.Peer.Changed(secret)
	}
}

// notifyAll says that an entry looks otherwise on the lists that hold it.
func (r *Reflector) notifyAll(s slot) {
	for in, secrets := range r.watched {
		if slices.Contains(in.items, s) {
			for _, secret := range secrets {
				r.cfg.Peer.Changed(secret)
			}
		}
	}
}

package personal

import "slices"

// Watch says whether Config.Changed is told of a personal feed. A secret that
// opens nothing is not watched.
func (r *Room) Watch(secret string, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.bySecret[keyOfSecret(secret)]
	if s == nil {
		return
	}
	secrets := slices.DeleteFunc(r.watched[s.interest], func(other string) bool { return other == secret })
	if on {
		secrets = append(secrets, secret)
	}
	if len(secrets) == 0 {
		delete(r.watched, s.interest)
		return
	}
	if r.watched == nil {
		r.watched = make(map[*interest][]string)
	}
	r.watched[s.interest] = secrets
}

// tell says that a list shows something else.
func (r *Room) tell(in *interest) {
	for _, secret := range r.watched[in] {
		r.cfg.Changed(secret)
	}
}

// tellAll says that an entry looks otherwise on the lists that hold it.
func (r *Room) tellAll(s slot) {
	for in, secrets := range r.watched {
		if slices.Contains(in.items, s) {
			for _, secret := range secrets {
				r.cfg.Changed(secret)
			}
		}
	}
}

// revoked follows a personal feed that is no more.
func (r *Room) revoked(s *subscription) {
	secrets := r.watched[s.interest]
	if i := slices.Index(secrets, s.secret); i >= 0 {
		if secrets = slices.Delete(secrets, i, i+1); len(secrets) == 0 {
			delete(r.watched, s.interest)
		} else {
			r.watched[s.interest] = secrets
		}
		r.cfg.Changed(s.secret)
	}
}

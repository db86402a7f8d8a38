package fleet

import (
	"errors"
	"io"
	"net/http"

	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/store"
)

// The paths of ServeHTTP.
const (
	pathRows    = "/fleet/v1/rows"    // takes rows in, answers those that supersede them
	pathSums    = "/fleet/v1/sums"    // answers the slots whose rows are others
	pathDigests = "/fleet/v1/digests" // answers keys and digests of the rows of slots, as many slots as fit
	pathFetch   = "/fleet/v1/fetch"   // answers rows, as many as fit, in the order in which they are asked for
)

// ServeHTTP answers another member: the caller has checked that it is one.
func (k *Keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := map[string]func(*http.Request, []byte) ([]byte, error){
		pathRows: k.serveRows, pathSums: k.serveSums, pathDigests: k.serveDigests, pathFetch: k.serveFetch,
	}[r.URL.Path]
	switch {
	case answer == nil:
		http.Error(w, "no such path", http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		http.Error(w, "POST is needed", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		body, err = answer(r, body)
	}
	switch {
	case err == nil:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(body) // who asked may have gone
	case errors.As(err, new(*http.MaxBytesError)), errors.Is(err, fleet.ErrLarge):
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
	case errors.Is(err, errMalformed), errors.Is(err, fleet.ErrMalformed):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, store.ErrFull):
		http.Error(w, err.Error(), http.StatusInsufficientStorage)
	default:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

func (k *Keeper) serveRows(r *http.Request, body []byte) (answer []byte, err error) {
	rows, err := readRows(body)
	if err != nil {
		return nil, err
	}
	newer, err := k.merge(r.Context(), rows)
	for i := range newer {
		answer = appendRow(answer, &newer[i])
	}
	return answer, err
}

func (k *Keeper) serveSums(_ *http.Request, body []byte) (answer []byte, err error) {
	asked, err := readSums(body)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range asked {
		s := &k.slots[a.at]
		is := slotSum{at: a.at, sum: s.sum}
		if s.since > 0 {
			is.flags = flagHolds
		}
		if a.flags&flagAlways != 0 || s.sum != a.sum && (s.rows() > 0 || a.flags&flagTell != 0) {
			answer = is.append(answer)
		}
	}
	return answer, nil
}

func (k *Keeper) serveDigests(_ *http.Request, body []byte) (answer []byte, err error) {
	slots, err := readSlots(body)
	if err != nil {
		return nil, err
	}
	for _, at := range slots {
		rows, err := k.all(at.Records())
		if err != nil {
			return nil, err
		}
		if answer = appendDigests(answer, at, rows); len(answer) > maxBody {
			break
		}
	}
	return answer, nil
}

func (k *Keeper) serveFetch(_ *http.Request, body []byte) (answer []byte, err error) {
	keys, err := readKeys(body)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		r, ok, err := k.read(key)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if answer = appendRow(answer, &r); len(answer) > maxBody {
			break
		}
	}
	return answer, nil
}

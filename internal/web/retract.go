package web

import (
	"context"
	"encoding/hex"
	"net/http"

	"github.com/feedring/feedring"
)

// retract takes entries of this peer's own feeds back: one by its id, or all
// that have an address.
func (s *site) retract(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), waitOf(r))
	defer cancel()
	id, address := r.PathValue("id"), r.URL.Query().Get("url")
	var told []Retracted
	var err error
	switch {
	case id != "":
		if raw, bad := hex.DecodeString(id); bad != nil || len(raw) != 16 {
			return badRequest("%s is no entry's id: it has 32 hexadecimal digits", quote(id))
		}
		told, err = s.Backend.RetractEntry(ctx, feedring.EntryID(id))
	case address != "":
		told, err = s.Backend.RetractURL(ctx, address)
	default:
		return badRequest("name the entry: DELETE /api/v1/entries/ID, or /api/v1/entries?url=ADDRESS")
	}
	if err != nil {
		return refused(err)
	}
	return writeJSON(w, http.StatusOK, told)
}

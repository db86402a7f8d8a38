package web

import "net/http"

// HistoryStatus tells of the index by which queries find stored entries.
type HistoryStatus struct {
	Indexed int  `json:"indexed"` // rows that the index holds
	Entries int  `json:"entries"` // stored, older versions included
	Whole   bool `json:"whole"`   // the index holds all that it is to hold
}

func (s *site) history(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, s.Backend.History())
}

// rebuildHistory begins; GET /api/v1/history tells how far it came.
func (s *site) rebuildHistory(w http.ResponseWriter, _ *http.Request) error {
	s.Backend.RebuildHistory()
	return writeJSON(w, http.StatusAccepted, s.Backend.History())
}

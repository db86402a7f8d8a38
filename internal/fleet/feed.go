package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/feedring/feedring"
)

// FeedValue is the value of the row of a personal feed.
type FeedValue struct {
	Secret   string         `json:"secret"`
	Theme    feedring.Theme `json:"theme,omitempty"`
	Provider string         `json:"provider,omitempty"`
	Words    string         `json:"q,omitempty"` // as they were typed
	Since    time.Time      `json:"since,omitzero"`
	Until    time.Time      `json:"until,omitzero"`
	Limit    int            `json:"limit,omitempty"`
	Stem     bool           `json:"stem,omitempty"`
	Created  time.Time      `json:"created"`
	User     string         `json:"user,omitempty"` // id of the user's row; empty: the owner's
}

// errSecret is for a feed that another row's secret opens.
var errSecret = errors.New("the secret is not that of its row")

// FeedOf reads the value of the row of a personal feed that is there.
func FeedOf(r *Row) (v FeedValue, err error) {
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return v, fmt.Errorf("row of a feed: %w", err)
	}
	if id, ok := IDOf(v.Secret); !ok || id != r.ID {
		return v, errSecret
	}
	return v, nil
}

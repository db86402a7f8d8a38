package origins

import (
	"errors"
	"net/http"
)

// nobodyAnswers is a client without a network.
type nobodyAnswers struct{}

func (nobodyAnswers) Do(*http.Request) (*http.Response, error) {
	return nil, errors.New("no such host")
}

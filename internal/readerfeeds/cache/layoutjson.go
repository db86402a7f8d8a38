package cache

import (
	"bytes"
	"encoding/json"
)

// layOutJSON reads the members of the one object that a JSON Feed is.
func layOutJSON(body []byte) (layout, error) {
	mark := 0
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		mark = 3
	}
	w := jsonWalk{d: json.NewDecoder(bytes.NewReader(body[mark:])), mark: mark, seen: make(map[string]bool)}
	w.format = jsonFeed
	if err := w.enter('{'); err != nil {
		return layout{}, err
	}
	w.insert = w.at()
	for w.d.More() {
		if err := w.member(); err != nil {
			return layout{}, err
		}
	}
	if len(w.seen) == 0 || w.list.from == 0 {
		return layout{}, errLayout
	}
	_, err := w.d.Token()
	return w.layout, err
}

type jsonWalk struct {
	layout
	d    *json.Decoder
	mark int // bytes before the text
	seen map[string]bool
}

func (w *jsonWalk) at() int { return w.mark + int(w.d.InputOffset()) }

func (w *jsonWalk) enter(bracket json.Delim) error {
	token, err := w.d.Token()
	if err == nil && token != bracket {
		err = errLayout
	}
	return err
}

func (w *jsonWalk) member() error {
	token, err := w.d.Token()
	if err != nil {
		return err
	}
	key, _ := token.(string)
	if w.seen[key] { // which of them counts is anybody's guess
		return errLayout
	}
	w.seen[key] = true
	switch key {
	case "feed_url":
		return w.d.Decode(&w.self)
	case "hubs":
		w.hubsAt, err = w.listOf(w.hub)
		w.empty = len(w.hubs) == 0
		return err
	case "items":
		w.list.from, err = w.listOf(w.item)
		w.list.to = w.at() - 1
		return err
	}
	var skipped json.RawMessage
	return w.d.Decode(&skipped)
}

// listOf reads a list and returns where its inside begins.
func (w *jsonWalk) listOf(each func(json.RawMessage) error) (from int, err error) {
	if err := w.enter('['); err != nil {
		return 0, err
	}
	from = w.at()
	for w.d.More() {
		var raw json.RawMessage
		if err := w.d.Decode(&raw); err != nil {
			return 0, err
		}
		if err := each(raw); err != nil {
			return 0, err
		}
	}
	_, err = w.d.Token()
	return from, err
}

func (w *jsonWalk) item(raw json.RawMessage) error {
	w.items = append(w.items, span{w.at() - len(raw), w.at()})
	return nil
}

func (w *jsonWalk) hub(raw json.RawMessage) error {
	var hub struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(raw, &hub); err != nil {
		return err
	}
	w.hubs = append(w.hubs, hub.URL)
	return nil
}

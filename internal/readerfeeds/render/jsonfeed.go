package render

import (
	"cmp"
	"encoding/json"
	"io"
)

// The fields of JSON Feed 1.1 that feedring writes.
type (
	jsonFeed struct {
		Version     string     `json:"version"`
		Title       string     `json:"title"`
		Home        string     `json:"home_page_url,omitempty"`
		Self        string     `json:"feed_url,omitempty"`
		Description string     `json:"description,omitempty"`
		Next        string     `json:"next_url,omitempty"`
		Language    string     `json:"language,omitempty"`
		Hubs        []jsonHub  `json:"hubs,omitempty"`
		Items       []jsonItem `json:"items"`
	}
	jsonHub struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	jsonItem struct {
		ID          string           `json:"id"`
		URL         string           `json:"url,omitempty"`
		Title       string           `json:"title,omitempty"`
		HTML        string           `json:"content_html,omitempty"`
		Text        *string          `json:"content_text,omitempty"`
		Summary     string           `json:"summary,omitempty"`
		Published   string           `json:"date_published"`
		Modified    string           `json:"date_modified,omitempty"`
		Authors     []jsonAuthor     `json:"authors"`
		Tags        []string         `json:"tags,omitempty"`
		Language    string           `json:"language,omitempty"`
		Attachments []jsonAttachment `json:"attachments,omitempty"`
	}
	jsonAuthor struct {
		Name string `json:"name"`
	}
	jsonAttachment struct {
		URL      string `json:"url"`
		MIMEType string `json:"mime_type"`
		Size     int64  `json:"size_in_bytes,omitempty"`
		Seconds  int64  `json:"duration_in_seconds,omitempty"`
	}
)

// writeJSON writes v as it is: it is never put into HTML.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func newJSONFeed(feed *Feed, items []item) *jsonFeed {
	out := &jsonFeed{
		Version: "https://jsonfeed.org/version/1.1", Title: clean(feed.Title), Home: feed.Home, Self: feed.Self,
		Description: clean(feed.About), Next: feed.Next, Language: commonLanguage(items), Items: []jsonItem{},
	}
	if feed.Hub != "" {
		out.Hubs = []jsonHub{{"WebSub", feed.Hub}}
	}
	for i := range items {
		out.Items = append(out.Items, newJSONItem(&items[i]))
	}
	return out
}

// newJSONItem gives an item content of one kind at least, as the format wants.
func newJSONItem(it *item) jsonItem {
	out := jsonItem{
		ID: it.id, URL: it.link, Title: it.title, HTML: it.html, Summary: it.summary, Published: stamp(it.published),
		Tags: it.tags, Language: it.language,
	}
	if out.HTML == "" {
		out.Text = &it.summary
	}
	if it.updated.After(it.published) {
		out.Modified = stamp(it.updated)
	}
	for _, name := range it.byline() {
		out.Authors = append(out.Authors, jsonAuthor{name})
	}
	for _, file := range it.attachments {
		out.Attachments = append(out.Attachments, jsonAttachment{file.URL, cmp.Or(file.MIMEType, unknownType), file.Size, file.Seconds})
	}
	return out
}

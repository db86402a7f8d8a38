package pages

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
)

// Page is a page that can be sent.
type Page interface{ HTML() ([]byte, error) }

// maxRows bounds what a page lists of one kind; the API lists all.
const maxRows = 300

//go:embed *.html style.css page.js favicon.svg
var files embed.FS

// Most commands show no page, so the templates are parsed at the first one.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"ago": ago, "count": count, "integrity": integrity, "webAddress": webAddress, "top": top, "more": more,
		"path":    func(t feedring.Theme) string { return url.PathEscape(string(t)) },
		"rfc3339": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	}).ParseFS(files, "*.html"))
})

func render(name string, page any) ([]byte, error) {
	var b bytes.Buffer
	err := templates().ExecuteTemplate(&b, name, page)
	return bytes.ToValidUTF8(b.Bytes(), []byte("�")), err
}

// count is n with the thing that it counts.
func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", more)
}

// ago is how long ago something was. The script goes on counting.
func ago(now, t time.Time) string {
	switch past := max(0, now.Sub(t)); {
	case past >= 48*time.Hour:
		return fmt.Sprintf("%d d ago", past/(24*time.Hour))
	case past >= 2*time.Hour:
		return fmt.Sprintf("%d h ago", past/time.Hour)
	case past >= 2*time.Minute:
		return fmt.Sprintf("%d min ago", past/time.Minute)
	default:
		return fmt.Sprintf("%d s ago", past/time.Second)
	}
}

// webAddress is an address that a click may follow; empty for another one, such
// as javascript:, and for one of no host.
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}

// top is the begin of a list as far as a page shows it, and more how many follow.
func top(list any) any {
	v := reflect.ValueOf(list)
	return v.Slice(0, min(v.Len(), maxRows)).Interface()
}

func more(list any) int { return max(0, reflect.ValueOf(list).Len()-maxRows) }

// clip cuts a text to a number of characters.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most])) + "…"
	}
	return s
}

package main

import (
	"bufio"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/feedring/feedring"
)

// Texts written for this demo, about places that do not exist.
//
//go:embed texts/*.txt
var bundled embed.FS

// paper is one feed: what it is called and what it has to tell.
type paper struct {
	name     string // of its file and in its addresses
	theme    feedring.Theme
	language string
	form     string // rss, atom, json
	title    string
	articles []article
}

type article struct{ title, text string }

// provider is the invented host that the feed is said to come from.
func (p *paper) provider() string { return p.name + ".example" }

// file is the name of the feed at the origin.
func (p *paper) file() string {
	if p.form == "json" {
		return p.name + ".json"
	}
	return p.name + ".xml"
}

// readPapers reads the bundled texts, in the order of their names.
func readPapers() ([]*paper, error) {
	names, err := fs.Glob(bundled, "texts/*.txt")
	if err != nil {
		return nil, err
	}
	var papers []*paper
	for _, name := range names {
		text, err := bundled.ReadFile(name)
		if err != nil {
			return nil, err
		}
		p, err := parsePaper(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		p.name = strings.TrimSuffix(path.Base(name), ".txt")
		papers = append(papers, p)
	}
	return papers, nil
}

// parsePaper reads lines "key: value", then articles: "# title" and a text.
func parsePaper(text string) (*paper, error) {
	p := &paper{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		title, isTitle := strings.CutPrefix(line, "# ")
		switch {
		case line == "":
		case isTitle:
			p.articles = append(p.articles, article{title: title})
		case len(p.articles) > 0:
			last := &p.articles[len(p.articles)-1]
			last.text = strings.TrimSpace(last.text + " " + line)
		default:
			if err := p.set(line); err != nil {
				return nil, err
			}
		}
	}
	return p, lines.Err()
}

func (p *paper) set(line string) error {
	key, value, _ := strings.Cut(line, ": ")
	switch key {
	case "theme":
		p.theme = feedring.Theme(value)
	case "language":
		p.language = value
	case "form":
		p.form = value
	case "title":
		p.title = value
	default:
		return fmt.Errorf("line %q says nothing about a feed", line)
	}
	return nil
}

package pages

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

// What pages load, and nothing else.
var (
	//go:embed style.css
	styleText []byte
	//go:embed page.js
	scriptText []byte
	//go:embed favicon.svg
	iconText []byte
)

// Asset is a file that pages load.
type Asset struct {
	Name, Type string
	Body       []byte
	Hash       string // of Body, as the integrity attribute writes it
}

// Assets are the style and the script of all pages.
func Assets() (style, script Asset) {
	return Asset{"style.css", "text/css; charset=utf-8", styleText, hash(styleText)},
		Asset{"page.js", "text/javascript; charset=utf-8", scriptText, hash(scriptText)}
}

// Icon is what browsers show beside a page's title.
func Icon() Asset { return Asset{"favicon.svg", "image/svg+xml", iconText, hash(iconText)} }

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Policy is the Content-Security-Policy of all pages: a style, a script and an
// icon of this peer, forms to it, and nothing from elsewhere.
const Policy = "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

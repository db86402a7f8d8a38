package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
)

// Asset is a file that pages load.
type Asset struct {
	Name, Type string
	Body       []byte
	Hash       string // of Body, as the integrity attribute writes it
}

// Assets are what pages load.
var Assets = []Asset{
	asset("style.css", "text/css; charset=utf-8", "style.css"),
	asset("page.js", "text/javascript; charset=utf-8", "page.js"),
	asset("favicon.svg", "image/svg+xml", "favicon.svg"),
	asset("favicon.ico", "image/svg+xml", "favicon.svg"), // many look there, whatever a page says
}

func asset(name, kind, file string) Asset {
	body, _ := files.ReadFile(file) // it is embedded
	sum := sha256.Sum256(body)
	return Asset{name, kind, body, "sha256-" + base64.StdEncoding.EncodeToString(sum[:])}
}

func integrity(name string) string {
	return Assets[slices.IndexFunc(Assets, func(a Asset) bool { return a.Name == name })].Hash
}

// Policy is the Content-Security-Policy of all pages: a style, a script and an
// icon of this peer, forms to it, and nothing from elsewhere.
const Policy = "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

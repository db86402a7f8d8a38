package pages

import (
	"strconv"

	"github.com/feedring/feedring"
)

// Personal is the section of personal feeds. Nil: the peer keeps none.
type Personal struct {
	Feeds []PersonalFeed
	Form  Form // of a new one, or to sign in
}

// PersonalFeed is one, with its addresses.
type PersonalFeed struct {
	ID              string
	Query           feedring.Query
	Stem            bool
	Atom, RSS, JSON string
}

func (p *Personal) section(m *markup, f *Frame) {
	if p == nil {
		return
	}
	m.html("<section id=\"personal\" aria-labelledby=\"personal-title\">\n<h2 id=\"personal-title\">Personal feeds</h2>\n")
	m.html("<p>A query of yours as a feed at a secret address, which any feed reader can poll.</p>\n")
	if !f.Owner {
		p.signIn(m)
		m.html("</section>\n")
		return
	}
	m.html("<ul class=\"cards\">\n")
	for i := range p.Feeds {
		p.Feeds[i].write(m)
	}
	// The answer to a form that is wrong is shown at its problem. An answer that
	// leads elsewhere says where.
	m.html("</ul>\n<form method=\"post\" action=\"subscribe#personal-problem\" aria-label=\"New personal feed\">\n")
	p.Form.problem(m, "personal")
	p.Form.fields(m, "personal")
	p.Form.stem(m, "personal")
	m.html("<button>Make a personal feed</button>\n</form>\n")
	if f.Session {
		m.html("<form method=\"post\" action=\"signout\"><button class=\"quiet\">Sign out</button></form>\n")
	}
	m.html("</section>\n")
}

func (p *Personal) signIn(m *markup) {
	m.html("<form method=\"post\" action=\"signin#personal-problem\" aria-label=\"Sign in\">\n")
	p.Form.problem(m, "personal")
	m.html("<p class=\"q\"><label for=\"token\">Token, from the file <code>token</code> in the peer’s data directory</label>" +
		"<input id=\"token\" name=\"token\" type=\"password\" required autocomplete=\"current-password\"")
	if p.Form.Field == "token" {
		m.html(` aria-invalid="true" aria-describedby="personal-problem"`)
	}
	m.html("></p>\n<button>Sign in</button>\n</form>\n")
}

func (p *PersonalFeed) write(m *markup) {
	m.between(`<li id="feed-`, p.ID, `"><h3>`)
	m.text(Describe(&p.Query))
	m.html("</h3>\n<p class=\"meta\"><span>newest ")
	m.text(strconv.Itoa(p.Query.Limit))
	m.html("</span>")
	if p.Stem {
		m.html(" <span>other forms of the words, too</span>")
	}
	m.html("</p>\n<p>")
	for _, a := range []struct {
		label   literal
		address string
	}{{"Atom", p.Atom}, {"RSS", p.RSS}, {"JSON Feed", p.JSON}} {
		m.between(`<a href="`, a.address, `">`)
		m.html(a.label)
		m.html("</a> ")
	}
	m.html("</p>\n<details class=\"revoke\"><summary")
	m.between(` aria-label="Revoke `, Describe(&p.Query), `">Revoke</summary>`)
	m.html("\n<p>Whoever polls these addresses then gets nothing any more, and they do not come back.</p>\n")
	m.between("<form method=\"post\" action=\"revoke#personal-problem\"><input type=\"hidden\" name=\"id\" value=\"", p.ID, `">`)
	m.between(`<button aria-label="Revoke for good: `, Describe(&p.Query), "\">Revoke for good</button></form>\n</details>\n</li>\n")
}

// Describe says a query in words.
func Describe(q *feedring.Query) string {
	s := "Everything"
	if q.Words != "" {
		s = q.Words
	}
	if q.Theme != "" {
		s += " in " + string(q.Theme)
	}
	if q.Provider != "" {
		s += " from " + q.Provider
	}
	if !q.Since.IsZero() {
		s += " since " + q.Since.UTC().Format("2 Jan 2006")
	}
	if !q.Until.IsZero() {
		s += " until " + q.Until.UTC().Format("2 Jan 2006")
	}
	return s
}

package pages

import "github.com/feedring/feedring"

// Personal is the section of personal feeds. Nil: the peer keeps none.
type Personal struct {
	Feeds   []PersonalFeed
	Problem string // of a form that was sent; empty: none
}

// PersonalFeed is one, with its addresses.
type PersonalFeed struct {
	ID              string
	Query           feedring.Query
	Atom, RSS, JSON string
}

func (p *Personal) section(m *markup, f *Frame, s *Search) {
	if p == nil {
		return
	}
	m.html("<section id=\"personal\" aria-labelledby=\"personal-title\">\n<h2 id=\"personal-title\">Personal feeds</h2>\n")
	m.html("<p>A query of yours as a feed at a secret address, which any feed reader can poll.</p>\n")
	if p.Problem != "" {
		m.between("<p role=\"alert\" id=\"personal-problem\" class=\"problem\">", p.Problem, "</p>\n")
	}
	if !f.Owner {
		signIn(m)
		m.html("</section>\n")
		return
	}
	m.html("<ul class=\"cards\">\n")
	for i := range p.Feeds {
		p.Feeds[i].write(m)
	}
	m.html("</ul>\n<form method=\"post\" action=\"subscribe\" aria-label=\"New personal feed\">\n")
	s.fields(m, "personal", "")
	m.html("<button>Make a personal feed</button>\n</form>\n")
	if f.Session {
		m.html("<form method=\"post\" action=\"signout\"><button class=\"quiet\">Sign out</button></form>\n")
	}
	m.html("</section>\n")
}

func signIn(m *markup) {
	m.html("<form method=\"post\" action=\"signin\" aria-label=\"Sign in\">\n" +
		"<p class=\"q\"><label for=\"token\">Token, from the file <code>token</code> in the peer’s data directory</label>" +
		"<input id=\"token\" name=\"token\" type=\"password\" required autocomplete=\"current-password\"></p>\n<button>Sign in</button>\n</form>\n")
}

func (p *PersonalFeed) write(m *markup) {
	m.between(`<li id="feed-`, p.ID, `"><h3>`)
	m.text(Describe(&p.Query))
	m.html("</h3>\n<p>")
	for _, a := range []struct {
		label   literal
		address string
	}{{"Atom", p.Atom}, {"RSS", p.RSS}, {"JSON Feed", p.JSON}} {
		m.between(`<a href="`, a.address, `">`)
		m.html(a.label)
		m.html("</a> ")
	}
	m.between("</p>\n<form method=\"post\" action=\"revoke\"><input type=\"hidden\" name=\"id\" value=\"", p.ID, `">`)
	m.between(`<button class="quiet" aria-label="Revoke `, Describe(&p.Query), "\">Revoke</button></form>\n</li>\n")
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
	return s
}

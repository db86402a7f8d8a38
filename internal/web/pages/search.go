package pages

import "github.com/feedring/feedring"

// Search is a query as it was typed, with its answer.
type Search struct {
	Theme, Provider, Words, Since string

	Asked   bool   // else the newest entries are shown
	Problem string // what is wrong with the query, or why it has no answer; empty: nothing
	Field   string // the one that is wrong: "theme", "provider", "q", "since"; empty: none alone
	Place   string // of the fault in Words, in two lines of fixed width; empty: none

	List
}

func (s *Search) section(m *markup, f *Frame, groups []feedring.RingGroup) {
	m.html("<section id=\"search\" aria-labelledby=\"search-title\">\n<h2 id=\"search-title\">Entries</h2>\n")
	m.html("<form role=\"search\" aria-label=\"Entries\" method=\"get\" action=\"./#search\">\n")
	s.problem(m)
	s.fields(m, "query", s.Field)
	m.html("<button>Search</button>\n</form>\n<datalist id=\"themes\">")
	for i := range groups[:min(len(groups), maxRows)] {
		m.between(`<option value="`, string(groups[i].Theme), `">`)
	}
	m.html("</datalist>\n<datalist id=\"ages\"><option value=\"1h\"><option value=\"24h\"><option value=\"7d\"></datalist>\n")
	if s.Problem == "" || len(s.Entries) > 0 {
		heading := literal("Newest")
		if s.Asked {
			heading = "Results"
		}
		s.List.write(m, f, heading)
	}
	m.html("</section>\n")
}

// problem says what is wrong, and shows where.
func (s *Search) problem(m *markup) {
	if s.Problem == "" {
		return
	}
	m.between("<div role=\"alert\" id=\"query-problem\" class=\"problem\"><p>", s.Problem, "</p>\n")
	if s.Place != "" {
		m.between("<pre aria-label=\"The place of the fault\">", s.Place, "</pre>\n")
	}
	m.html("</div>\n")
}

// fields are those of a query; form tells those of two forms apart.
func (s *Search) fields(m *markup, form literal, wrong string) {
	for _, f := range []struct{ name, label, more, value string }{
		{"q", "Words", `type="search" placeholder="energie AND (gaz OR solar)" maxlength="4096"`, s.Words},
		{"theme", "Theme", `list="themes" placeholder="every theme" autocapitalize="none"`, s.Theme},
		{"provider", "Provider", `placeholder="lemonde.fr" autocapitalize="none"`, s.Provider},
		{"since", "Since", `list="ages" placeholder="36h, 7d, date"`, s.Since},
	} {
		field(m, form, literal(f.name), literal(f.label), literal(f.more), f.value, wrong == f.name)
	}
}

// field writes a labelled field of a form.
func field(m *markup, form, name, label, more literal, value string, wrong bool) {
	m.html(`<p class="` + name + `"><label for="` + form + "-" + name + `">` + label + `</label><input id="` +
		form + "-" + name + `" name="` + name + `" ` + more)
	if wrong {
		m.html(` aria-invalid="true" aria-describedby="` + form + `-problem"`)
	}
	m.between(` value="`, value, "\"></p>\n")
}

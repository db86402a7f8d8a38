package pages

import "github.com/feedring/feedring"

// Form is the fields of a query as they were typed, with what is wrong with
// them.
type Form struct {
	Theme, Provider, Words, Since string
	Stem                          bool

	Problem string // what is wrong, or why there is no answer; empty: nothing
	Field   string // the one that is wrong: "theme", "provider", "q", "since"; empty: none alone
	Place   string // of the fault in Words, in two lines of fixed width; empty: none
}

// Search is a query with its answer.
type Search struct {
	Form
	Asked bool // else the newest entries are shown
	List
}

func (s *Search) section(m *markup, f *Frame, groups []feedring.RingGroup) {
	m.html("<section id=\"search\" aria-labelledby=\"search-title\">\n<h2 id=\"search-title\">Entries</h2>\n")
	m.html("<form role=\"search\" aria-label=\"Entries\" method=\"get\" action=\"./#search\">\n")
	s.Form.problem(m, "query")
	s.Form.fields(m, "query")
	s.Form.stem(m, "query")
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

// problem says what is wrong, and shows where. It takes the focus: a form's
// address leads to it, and the script does.
func (f *Form) problem(m *markup, form literal) {
	if f.Problem == "" {
		return
	}
	m.html(`<div role="alert" tabindex="-1" id="` + form + `-problem" class="problem"><p>`)
	m.between("", f.Problem, "</p>\n")
	if f.Place != "" {
		m.between("<pre aria-label=\"The place of the fault\">", f.Place, "</pre>\n")
	}
	m.html("</div>\n")
}

// fields are those of a query; form tells those of two forms apart.
func (f *Form) fields(m *markup, form literal) {
	for _, i := range []struct{ name, label, more, value string }{
		{"q", "Words", `type="search" placeholder="energie AND (gaz OR solar)" maxlength="4096"`, f.Words},
		{"theme", "Theme", `list="themes" placeholder="every theme" autocapitalize="none"`, f.Theme},
		{"provider", "Provider", `placeholder="lemonde.fr" autocapitalize="none"`, f.Provider},
		{"since", "Since", `list="ages" placeholder="36h, 7d, date"`, f.Since},
	} {
		field(m, form, literal(i.name), literal(i.label), literal(i.more), i.value, f.Field == i.name)
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

// stem writes the choice of other forms of words.
func (f *Form) stem(m *markup, form literal) {
	m.html(`<p class="stem"><label><input type="checkbox" id="` + form + `-stem" name="stem" value="true"`)
	if f.Stem {
		m.html(" checked")
	}
	m.html(">Other forms of the words, too</label></p>\n")
}

package pages

import "github.com/feedring/feedring"

// Group is the page of a group: its catalogue and its entries.
type Group struct {
	Frame
	Self      feedring.PeerID
	Catalogue feedring.Catalogue
	List      List
}

// HTML returns the page.
func (g *Group) HTML() ([]byte, error) { return render("group", g) }

// Title is the page's, without the program's name.
func (g *Group) Title() string { return string(g.Catalogue.Theme) }

package main

import (
	"bytes"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// series is one line of a panel.
type series struct {
	name string
	x, y []float64
}

// axes are how a panel is scaled.
type axes struct {
	x, y       string
	logX, logY bool
	yMin, yMax float64 // both 0: by the data
}

// panel draws lines. On a logarithmic axis points that are not above 0 are
// left out.
func panel(title string, a axes, lines ...series) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = a.x, a.y
	p.BackgroundColor = color.White
	p.Add(plotter.NewGrid())
	p.Legend.Top, p.Legend.Left = true, true
	for i, s := range lines {
		var points plotter.XYs
		for j := range s.x {
			if (!a.logX || s.x[j] > 0) && (!a.logY || s.y[j] > 0) {
				points = append(points, plotter.XY{X: s.x[j], Y: s.y[j]})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, marks.Color = plotutil.Color(i), plotutil.Color(i)
		line.Width, marks.Radius = vg.Points(1.2), vg.Points(2)
		line.Dashes, marks.Shape = plotutil.Dashes(i), plotutil.Shape(i)
		p.Add(line, marks)
		p.Legend.Add(s.name, line, marks)
	}
	if p.X.Min <= p.X.Max { // something was drawn
		a.scale(p)
	}
	return p, nil
}

func (a axes) scale(p *plot.Plot) {
	if a.logX {
		widen(&p.X)
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if a.yMin != a.yMax {
		p.Y.Min, p.Y.Max = a.yMin, a.yMax
	}
	if a.logY {
		widen(&p.Y)
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		p.Y.Max = math.Pow(10, math.Log10(p.Y.Max)+0.35*math.Log10(p.Y.Max/p.Y.Min)) // room for the legend
		return
	}
	if a.yMin == a.yMax {
		p.Y.Min = min(0, p.Y.Min)
		p.Y.Max += 0.35 * (p.Y.Max - p.Y.Min)
	}
}

// widen gives a logarithmic axis of one value a range: plot would begin it below 0.
func widen(a *plot.Axis) {
	if a.Min == a.Max {
		a.Min, a.Max = a.Min/2, a.Max*2
	}
}

const (
	panelWidth  = 13 * vg.Centimeter
	panelHeight = 9 * vg.Centimeter
)

// draw puts panels, row by row, into one SVG.
func draw(panels [][]*plot.Plot) ([]byte, error) {
	rows, columns := len(panels), len(panels[0])
	canvas := vgsvg.New(panelWidth*vg.Length(columns), panelHeight*vg.Length(rows))
	dc := vgdraw.New(canvas)
	tiles := vgdraw.Tiles{Rows: rows, Cols: columns, PadX: vg.Centimeter, PadY: vg.Centimeter,
		PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(12)}
	for i, row := range plot.Align(panels, tiles, dc) {
		for j, c := range row {
			if panels[i][j] != nil {
				panels[i][j].Draw(c)
			}
		}
	}
	var out bytes.Buffer
	_, err := canvas.WriteTo(&out)
	return out.Bytes(), err
}

// panels collects panels until one fails.
type panels struct {
	all []*plot.Plot
	err error
}

func (ps *panels) add(title string, a axes, lines ...series) {
	p, err := panel(title, a, lines...)
	if err != nil && ps.err == nil {
		ps.err = err
	}
	ps.all = append(ps.all, p)
}

// grid lays panels out in rows.
func (ps *panels) grid(columns int) ([][]*plot.Plot, error) {
	var rows [][]*plot.Plot
	for i := 0; i < len(ps.all); i += columns {
		row := make([]*plot.Plot, columns)
		copy(row, ps.all[i:])
		rows = append(rows, row)
	}
	return rows, ps.err
}

// line makes a series of rows.
func line[R any](name string, rows []R, point func(R) (x, y float64)) series {
	s := series{name: name}
	for _, r := range rows {
		x, y := point(r)
		s.x, s.y = append(s.x, x), append(s.y, y)
	}
	return s
}

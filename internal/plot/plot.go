// Package plot draws charts as SVG, PNG or lines of text. A chart has groups along the horizontal axis, with a bar
// or a point and its interval for each. The package is independent of the source of the numbers.
//
// The texts of a chart may contain any characters: characters that cannot be drawn are replaced, and markup is
// escaped. The same chart always gives the same bytes.
package plot

import (
	"errors"
	"fmt"
	"io"
)

// Format is the file format of a picture.
type Format string

// Formats of a picture.
const (
	SVG Format = "svg" // sizes are in points
	PNG Format = "png" // two pixels for each point, or 144 for each inch
)

// Formats lists the formats.
var Formats = []Format{SVG, PNG}

// Chart is the content of a picture: panels above each other, with the same groups and series.
type Chart struct {
	Title   string // white space is collapsed; a title longer than two lines is cut
	Caption string // small text below the panels
	Key     string // name of the groups; may be ""
	Groups  []string
	Ordered bool     // the groups are numbers or dates, so a missing label can be inferred from its neighbours
	Legend  string   // name of the series
	Series  []string // at most MaxSeries; empty for a single series without a name
	Panels  []Panel  // at most MaxPanels
}

// Limits of the content of one picture.
const (
	MaxSeries = 8
	MaxPanels = 12
)

// Panel shows one measure: a mark for each series and group.
type Panel struct {
	Name   string
	Points bool     // draws points instead of bars, for measures whose distance from 0 means nothing
	Line   *float64 // draws a line at the number that points are compared with; nil if there is none. Bars have one at 0
	// numbers that the axis contains, so that panels of the same measure have the same axis; may be empty
	Within []float64
	Marks  [][]Mark // indexed by series, then by group; a chart without series has one
}

// Mark is one number with its interval.
type Mark struct {
	Value     float64 // NaN if there is no value
	Low, High float64 // ±∞ for an unbounded interval; NaN if there is no interval
	Text      string  // number as text, for a text chart
	// the interval is the whole range of possible values: the mark is hollow, and its interval dashed
	Hollow  bool
	Missing bool // the answer has no such row, so nothing is drawn
}

// ErrChart is the error for an inconsistent chart.
var ErrChart = errors.New("plot: invalid chart")

// check returns ErrChart if the chart does not have exactly one mark for each panel, series and group, or exceeds
// the limits of a picture.
func (c *Chart) check() error {
	if len(c.Series) > MaxSeries || len(c.Panels) > MaxPanels {
		return fmt.Errorf(
			"%w: %d series and %d panels, but at most %d and %d can be drawn",
			ErrChart,
			len(c.Series),
			len(c.Panels),
			MaxSeries,
			MaxPanels,
		)
	}
	for _, p := range c.Panels {
		if len(p.Marks) != c.series() {
			return fmt.Errorf("%w: a panel has %d series, not %d", ErrChart, len(p.Marks), c.series())
		}
		for _, marks := range p.Marks {
			if len(marks) != len(c.Groups) {
				return fmt.Errorf("%w: a series has %d marks for %d groups", ErrChart, len(marks), len(c.Groups))
			}
		}
	}
	return nil
}

// series returns the number of series, at least 1.
func (c *Chart) series() int { return max(1, len(c.Series)) }

// Write draws a chart and writes the picture. It returns ErrChart, an error for an unknown format, or an error of
// w.
func Write(w io.Writer, f Format, c Chart) error {
	if err := c.check(); err != nil {
		return err
	}
	return write(w, f, newPage(&c))
}

// Package plot draws charts: groups along the horizontal axis, a bar or a point with its interval for each, as SVG, as
// PNG or as lines of text. It knows nothing of where the numbers come from.
//
// A chart's texts may hold anything: what no picture can show is replaced, and markup is escaped. The same chart always
// gives the same bytes.
package plot

import (
	"errors"
	"fmt"
	"io"
)

// Format is a picture's file format.
type Format string

// The formats.
const (
	SVG Format = "svg" // drawn in points
	PNG Format = "png" // two pixels a point, so 144 a logical inch
)

// Formats lists the formats.
var Formats = []Format{SVG, PNG}

// Chart is the content of a picture: panels below each other that share their groups and series.
type Chart struct {
	Title   string // runs of white space count as one space; cut where it fills two lines
	Caption string // below the panels, small
	Key     string // names the groups; "" if there is nothing to name
	Groups  []string
	Ordered bool     // the groups are numbers or dates: what a label that is left out says is clear from its neighbours
	Legend  string   // names the series
	Series  []string // at most MaxSeries; empty where there is one series without a name
	Panels  []Panel  // at most MaxPanels
}

// Limits of what one picture can show.
const (
	MaxSeries = 8
	MaxPanels = 12
)

// Panel is one measure: a mark for each series and group.
type Panel struct {
	Name   string
	Points bool     // points instead of bars: for measures whose bars from 0 would say nothing
	Zero   bool     // of points too the axis shows 0, and a line there: for what is held against 0
	Marks  [][]Mark // by series (one where the chart names none), then by group
}

// Mark is one number with its interval.
type Mark struct {
	Value     float64 // NaN: there is none
	Low, High float64 // −∞ and +∞ where the interval has no such end; NaN: there is no interval
	Text      string  // the number in words, for Text
	Missing   bool    // the answer has no such row: nothing is drawn
}

// ErrChart reports an inconsistent chart.
var ErrChart = errors.New("plot: no such chart")

// check reports a chart without exactly one mark for each panel, series and group, or with more than a picture can
// show.
func (c *Chart) check() error {
	if len(c.Series) > MaxSeries || len(c.Panels) > MaxPanels {
		return fmt.Errorf(
			"%w: %d series and %d panels, at most %d and %d are drawn",
			ErrChart,
			len(c.Series),
			len(c.Panels),
			MaxSeries,
			MaxPanels,
		)
	}
	for _, p := range c.Panels {
		if len(p.Marks) != c.series() {
			return fmt.Errorf("%w: a panel has %d series of %d", ErrChart, len(p.Marks), c.series())
		}
		for _, marks := range p.Marks {
			if len(marks) != len(c.Groups) {
				return fmt.Errorf("%w: a series has %d marks for %d groups", ErrChart, len(marks), len(c.Groups))
			}
		}
	}
	return nil
}

// series counts the series.
func (c *Chart) series() int { return max(1, len(c.Series)) }

// Write draws the chart and writes it. Errors are ErrChart, an unknown format, and w's own.
func Write(w io.Writer, f Format, c Chart) error {
	if err := c.check(); err != nil {
		return err
	}
	return write(w, f, newPage(&c))
}

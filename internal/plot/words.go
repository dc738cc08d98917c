package plot

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Text draws a chart as lines of text, about columns characters wide. Each line has a bar, its interval across the
// end of the bar, and the number as text. The interval is heavy inside the bar and light outside. With colour, the
// series have different terminal colours; without it, only their names differ.
//
// Text returns ErrChart for an inconsistent chart.
func Text(c Chart, columns int, colour bool) (string, error) {
	if err := c.check(); err != nil {
		return "", err
	}
	if len(c.Groups) == 0 {
		return "no rows\n", nil
	}
	var b strings.Builder
	for i := range c.Panels {
		if i > 0 {
			b.WriteByte('\n')
		}
		c.panelText(&b, &c.Panels[i], columns, colour)
	}
	return b.String(), nil
}

// Limits of a text chart, in columns.
const (
	fewestCells = 10
	mostWords   = 40
)

// cells is the area in which a panel's bars are drawn. It has n character cells, for values from low to high.
type cells struct {
	n         int
	low, high float64
	points    bool
}

func (c *Chart) panelText(b *strings.Builder, p *Panel, columns int, colour bool) {
	names, words := 0, 0
	for s, marks := range p.Marks {
		for g, m := range marks {
			if !m.Missing {
				names = max(names, utf8.RuneCountInString(c.name(s, g)))
				words = max(words, utf8.RuneCountInString(clean(m.Text)))
			}
		}
	}
	names, words = min(names, max(columns/3, 8)), min(words, mostWords)
	d := cells{n: max(columns-names-words-5, fewestCells), points: p.Points}
	d.low, d.high = p.span()
	fmt.Fprintf(b, " %s\n", strings.TrimRight(runes(clean(p.Name), names+d.n+words+3), " "))
	for g := range c.Groups {
		for s := range p.Marks {
			m := p.Marks[s][g]
			if m.Missing {
				continue
			}
			bar := d.draw(m)
			if colour {
				bar = paint(bar, s)
			}
			text := clean(m.Text)
			fmt.Fprintf(
				b,
				" %s %s %s%s\n",
				runes(c.name(s, g), names),
				bar,
				strings.Repeat(" ", max(words-utf8.RuneCountInString(text), 0)),
				text,
			)
		}
	}
	fmt.Fprintf(b, " %s %s\n", runes("", names), d.scale())
}

// name returns the text at the beginning of a mark's line: its group and its series.
func (c *Chart) name(series, group int) string {
	if len(c.Series) == 0 {
		return clean(c.Groups[group])
	}
	return clean(c.Groups[group]) + " · " + clean(c.Series[series])
}

// at returns the position of a number, in cells from the left edge. A number outside the axis is at the edge.
func (d *cells) at(x float64) float64 {
	return math.Max(0, math.Min(1, (finite(x)-d.low)/(d.high-d.low))) * float64(d.n)
}

// cell returns the index of the cell that contains a number.
func (d *cells) cell(x float64) int { return min(int(d.at(x)), d.n-1) }

// draw returns one number as a line of n character cells.
func (d *cells) draw(m Mark) string {
	out := []rune(strings.Repeat(" ", d.n))
	zero, valued := math.Round(d.at(0)), !math.IsNaN(m.Value) // bars begin at a boundary between cells
	from, to := zero, zero
	if !d.points {
		if d.low < 0 {
			out[min(int(zero), d.n-1)] = '│'
		}
		if valued {
			from, to = math.Min(zero, d.at(m.Value)), math.Max(zero, d.at(m.Value))
			fill(out, from, to)
			if m.Hollow {
				for i := range out {
					if out[i] >= '▉' && out[i] <= '▏' || out[i] == '█' || out[i] == '▐' {
						out[i] = '░'
					}
				}
			}
		}
	}
	dash := '─'
	if m.Hollow {
		dash = '╌'
	}
	if m.Low < m.High {
		first, last := d.cell(m.Low), d.cell(m.High)
		for i := first; i <= last && last > first; i++ {
			out[i] = dash
			if middle := float64(i) + 0.5; from < middle && middle < to && !m.Hollow {
				out[i] = '━'
			}
		}
		if last > first {
			out[first], out[last] = '├', '┤'
		}
		if m.Low < d.low {
			out[first] = '←'
		}
		if m.High > d.high {
			out[last] = '→'
		}
		if i := d.cell(m.Value); valued && !d.points && first < i && i < last {
			out[i] = '┿'
		}
	}
	if valued && d.points {
		out[d.cell(m.Value)] = '●'
		if m.Hollow {
			out[d.cell(m.Value)] = '○'
		}
	}
	return string(out)
}

// fill draws a bar between two positions. Its right end is exact to an eighth of a cell, and its left end to a
// half, because of the available characters.
func fill(out []rune, from, to float64) {
	for i := range out {
		left, right := math.Max(from, float64(i)), math.Min(to, float64(i+1))
		switch share := right - left; {
		case share <= 0:
		case share >= 15./16:
			out[i] = '█'
		case from <= float64(i):
			if eighths := int(math.Round(share * 8)); eighths > 0 {
				out[i] = '█' + rune(8-eighths) // █ is followed by ▉ … ▏
			}
		case share >= 0.75:
			out[i] = '█'
		case share >= 0.25:
			out[i] = '▐'
		}
	}
}

// paint colours a bar or a point by its series. The part of the interval outside of the bar keeps its colour.
func paint(bar string, series int) string {
	hues := []int{34, 33, 32, 35, 36, 31, 90, 94}
	end := strings.LastIndexAny(bar, "█▉▊▋▌▍▎▏▐━┿●░○")
	if end < 0 {
		return bar
	}
	_, size := utf8.DecodeRuneInString(bar[end:])
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m%s", hues[series%len(hues)], bar[:end+size], bar[end+size:])
}

// scale returns the labels of the axis: its ends, and 0 if that is between them.
func (d *cells) scale() string {
	out := []rune(strings.Repeat(" ", d.n))
	put := func(at int, text string) {
		r := []rune(text)
		copy(out[max(0, min(at, d.n-len(r))):], r)
	}
	places := 0
	if step := (d.high - d.low) / 20; step < 1 {
		places = int(math.Ceil(-math.Log10(step)))
	}
	low, high := number(d.low, places), number(d.high, places)
	zero := int(math.Round(d.at(0)))
	put(0, low)
	put(d.n, high)
	if d.low < 0 && d.high > 0 && zero > len([]rune(low)) && zero < d.n-len([]rune(high))-1 {
		put(zero, "0")
	}
	return strings.TrimRight(string(out), " ")
}

package plot

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// far is the largest absolute value that is drawn, so that the difference of two values is finite.
const far = 1e300

// finite clamps a number to ±far. NaN stays NaN.
func finite(x float64) float64 { return math.Max(-far, math.Min(far, x)) }

// lines returns the numbers at which a panel has lines.
func (p *Panel) lines() []float64 {
	switch {
	case !p.Points:
		return []float64{0}
	case p.Line != nil:
		return []float64{*p.Line}
	}
	return nil
}

// span returns the range of a panel's axis. It contains every value, the ends of the intervals, the panel's line, and the
// numbers Within. A single long interval would flatten everything else. Intervals therefore extend the axis at most by
// the larger of two lengths: the span of all values, and three median lengths of intervals. A longer interval is
// drawn with an arrow.
//
// The range is never empty.
func (p *Panel) span() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	var lengths []float64
	end := func(from, to float64) {
		if d := math.Abs(to - from); !math.IsNaN(d) && !math.IsInf(d, 0) {
			lengths = append(lengths, d)
		}
	}
	each := func(do func(Mark)) {
		for _, marks := range p.Marks {
			for _, m := range marks {
				if !m.Missing {
					do(m)
				}
			}
		}
	}
	each(func(m Mark) {
		if math.IsNaN(m.Value) {
			end(m.Low, m.High)
			return
		}
		v := finite(m.Value)
		low, high = math.Min(low, v), math.Max(high, v)
		end(v, m.Low)
		end(v, m.High)
	})
	if low <= high {
		for _, x := range append(p.lines(), p.Within...) {
			low, high = math.Min(low, x), math.Max(high, x)
		}
	}
	slices.Sort(lengths)
	if low > high { // without values, use the ends of the intervals alone
		each(func(m Mark) {
			for _, x := range []float64{m.Low, m.High} {
				if !math.IsNaN(x) && !math.IsInf(x, 0) {
					low, high = math.Min(low, finite(x)), math.Max(high, finite(x))
				}
			}
		})
	} else if len(lengths) > 0 {
		reach := math.Max(high-low, 3*lengths[len(lengths)/2])
		floor, ceiling := low-reach, high+reach
		each(func(m Mark) {
			if !math.IsInf(m.Low, 0) && !math.IsNaN(m.Low) {
				low = math.Min(low, math.Max(m.Low, floor))
			}
			if !math.IsInf(m.High, 0) && !math.IsNaN(m.High) {
				high = math.Max(high, math.Min(m.High, ceiling))
			}
		})
	}
	return roomy(finite(low), finite(high), p.Points)
}

// roomy widens a range slightly. If it has bars, the side where they begin at 0 is not widened.
func roomy(low, high float64, points bool) (float64, float64) {
	switch {
	case math.IsNaN(low) || math.IsNaN(high) || low > high:
		return 0, 1
	// floats cannot divide such a small difference evenly
	case high-low <= 1e-12*math.Max(math.Abs(low), math.Abs(high)):
		room := math.Max(math.Abs(low)/10, 1e-300)
		if low == 0 {
			room = 1
		}
		low, high = low-room, high+room
	}
	room := (high - low) * 0.05
	if points || low < 0 {
		low -= room
	}
	if points || high > 0 {
		high += room
	}
	return low, high
}

// ticks returns the labelled positions of a value axis: multiples of 1, 2 or 5 times a power of ten, with at most
// `most` steps between them.
func ticks(low, high float64, most int) []plot.Tick {
	step := roundStep((high - low) / float64(most))
	if !(step > 0) { // the range is too small for floats
		return nil
	}
	places := 0
	if step < 1 {
		places = int(math.Ceil(-math.Log10(step) - 1e-9))
	}
	var out []plot.Tick
	first := math.Ceil(low / step)
	for i := 0; i <= most && (first+float64(i))*step <= high; i++ {
		x := (first + float64(i)) * step
		out = append(out, plot.Tick{Value: x, Label: number(x, places)})
	}
	return out
}

// roundStep returns the smallest number of the series …, 0.1, 0.2, 0.5, 1, 2, 5, … that is at least x.
func roundStep(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, n := range []float64{1, 2, 5} {
		if n*unit >= x {
			return n * unit
		}
	}
	return 10 * unit
}

// fixed is a list of predetermined ticks of an axis.
type fixed []plot.Tick

// Ticks returns the predetermined ticks.
func (f fixed) Ticks(_, _ float64) []plot.Tick { return f }

// labelLines is the largest number of lines of a label.
const labelLines = 3

// Sizes of labels, in points.
const (
	labelGap     = 8
	longestLabel = 120 // longest width of a rotated label
	roomForWords = 64
	turnedPitch  = 13 // distance between rotated labels
)

// labels returns the labels of the groups below an axis. pitch is the distance between groups in points. Labels are
// horizontal if they fit, and broken into lines if each line has room for words. Otherwise they are rotated, and
// some are left out if they are too close.
func labels(c *Chart, sty draw.TextStyle, pitch vg.Length) (out fixed, turned bool) {
	names := make([]string, len(c.Groups))
	var widest vg.Length
	for i, g := range c.Groups {
		names[i] = clean(g)
		widest = max(widest, sty.Width(names[i]))
	}
	step := 1
	switch {
	case widest+labelGap <= pitch:
	case c.Ordered && widest <= longestLabel:
		step = nice(float64((widest + labelGap) / pitch))
	case pitch >= roomForWords:
		broken, most := make([][]string, len(names)), 0
		for i := range names {
			broken[i] = wrap(sty, names[i], pitch-labelGap, labelLines)
			most = max(most, len(broken[i]))
		}
		for i, lines := range broken { // give all labels the same number of lines, to align their first lines
			names[i] = strings.Join(lines, "\n") + strings.Repeat("\n ", most-len(lines))
		}
	default:
		turned = true
		step = nice(float64(turnedPitch / pitch))
		for i := range names {
			names[i] = cut(sty, names[i], longestLabel)
		}
	}
	for i := first(names, step); i < len(names); i += step {
		out = append(out, plot.Tick{Value: float64(i), Label: names[i]})
	}
	return out, turned
}

// nice returns the smallest number of the series 1, 2, 5, 10, 20, … that is at least x.
func nice(x float64) int {
	for unit := 1; ; unit *= 10 {
		for _, n := range []int{unit, 2 * unit, 5 * unit} {
			if float64(n) >= x {
				return n
			}
		}
	}
}

// first returns the index of the first group with a label, if only each step-th group has one. If the names are
// integers, labels are at multiples of step.
func first(names []string, step int) int {
	for i := range min(step, len(names)) {
		if n, err := strconv.Atoi(names[i]); err == nil && n%step == 0 {
			return i
		}
	}
	return 0
}

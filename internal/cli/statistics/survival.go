package statistics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dither/curator"
	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
)

// survivalFlags are the flags of `dither estimate survival` alone.
type survivalFlags struct{ time, event, periods string }

func (f *survivalFlags) declare(flag func(into any, name, value, about string)) {
	flag(&f.time, "time", "COLUMN",
		"for survival: the column with the time until the event, or until the person was observed last")
	flag(&f.event, "event", "CONDITION",
		"for survival and rate: the column, or the condition in SQL, that says whether the event happened")
	flag(&f.periods, "periods", "N",
		"for survival: divide the bounds of --time into N equal periods (default 10 for reals, and for integers of more "+
			"than 50 values)")
}

// survived are the survival curves of the groups of a release.
type survived struct {
	by, table  string
	column     string // of the times
	confidence float64
	names      []string
	curves     [][]hypothesis.Survived
	periods    []string
	starts     []float64 // the time at which each period starts
	ends       []float64 // the time at which each period ends; of integers, the last one in it
	noise      string
	grouped    bool     // times are known to the period only
	persons    []string // how the rows of a person were put together; nil if each row is a person
	release    *released
}

// estimateSurvival estimates the survival curves of a table's groups.
func estimateSurvival(s *console.Console, o *estimateFlags) error {
	if o.Table == "" || o.survival.time == "" || o.survival.event == "" {
		return console.Usage("estimate survival needs --table, --time and --event")
	}
	confidence, err := o.forCounts(s, "survival")
	if err != nil {
		return err
	}
	l := &eventCounts{table: o.Table, column: o.survival.time, event: o.survival.event, by: o.by, where: o.Where, lives: true}
	if l.parts, err = partsOf("periods", o.survival.periods); err != nil {
		return err
	}
	sql, err := l.question(s)
	if err != nil {
		return err
	}
	q := curator.Question{SQL: sql, Epsilon: o.Epsilon, Rho: o.Rho, Analyst: o.Analyst, Fresh: o.Fresh}
	return s.Asking(func(c *curator.Session) error {
		return measured(s, c, o.Table, q, o.explain, l.try, func(r *released) error {
			r.many = r.many && l.person == ""
			found, err := l.read(r)
			if err != nil {
				return err
			}
			out, err := l.survived(found, confidence, r)
			if err != nil {
				return err
			}
			if err := out.show(s); err != nil || o.picture.File == "" {
				return err
			}
			return console.DrawFile(o.picture.File, plot.WriteLines, out.picture(), "the curves are")
		})
	})
}

// survived computes the curves of all groups.
func (l *eventCounts) survived(found counted, confidence float64, r *released) (*survived, error) {
	out := &survived{
		by: l.by, table: l.table, column: l.column, confidence: confidence, release: r, names: found.groups, periods: found.parts,
		noise: noiseText(found.noise), persons: l.perPerson(), grouped: l.key.coarse,
	}
	lives := l.lifetimes(found, hypothesis.How{})
	for j, key := range found.keys {
		from, to := l.timesOf(j, key)
		out.starts, out.ends = append(out.starts, from), append(out.ends, to)
	}
	for g := range found.groups {
		curve, err := lives.Curve(g, confidence)
		if err != nil {
			return nil, err
		}
		out.curves = append(out.curves, curve)
	}
	return out, nil
}

// lifetimes returns the lifetimes of counted people. Times in periods of several values are grouped.
func (l *eventCounts) lifetimes(found counted, how hypothesis.How) hypothesis.Lifetimes {
	single := make([]bool, len(found.keys))
	for j, key := range found.keys {
		from, to := l.timesOf(j, key)
		single[j] = from == to
	}
	return hypothesis.Lifetimes{
		Events: found.with, Censored: found.without, Noise: found.noise, Grouped: l.key.coarse, Single: single, How: how,
	}
}

// forCounts checks the flags of an estimate from counts, and returns the confidence of its intervals.
func (o *estimateFlags) forCounts(s *console.Console, kind string) (float64, error) {
	if by := commaList(o.by); len(by) > 1 {
		return 0, console.Usage("estimate %s takes one column after --by", kind)
	}
	text := o.Confidence
	if text == "" {
		text = "0.95"
	}
	confidence, err := oneNumber("confidence", text)
	if err != nil || !(confidence > 0 && confidence < 1) {
		return 0, console.Usage("--confidence must be between 0 and 1")
	}
	return confidence, o.picture.Check(s)
}

// timesOf returns the times at which period j with a key starts and ends. A period of integers starts at its first one and
// ends at its last one, so a period of a single value is at that value.
func (l *eventCounts) timesOf(j int, key string) (from, to float64) {
	x, err := strconv.ParseFloat(key, 64)
	if err != nil {
		x = float64(j + 1)
	}
	if l.key.step == nil {
		return x, x
	}
	low, high := l.key.ends(int64(x))
	from, _ = low.Float64()
	to, _ = high.Float64()
	return from, to
}

func (v *survived) show(s *console.Console) error {
	header := []string{"time", "at risk", "share", "std. error", "low", "high", "band low", "band high"}
	fixed := func(x float64) string { return render.Fixed(x, 4) }
	var rows [][]string
	switch s.Format {
	case "json":
		return s.JSON(v.json())
	case "csv":
		header = []string{"time", "at_risk", "value", "stddev", "low", "high", "band_low", "band_high"}
		fixed = func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	}
	if v.by != "" {
		header = append([]string{v.by}, header...)
	}
	for g, curve := range v.curves {
		for j, p := range curve {
			row := []string{
				v.periods[j], render.Number6(p.AtRisk), fixed(p.Share), fixed(p.StdError), fixed(p.Low), fixed(p.High),
				fixed(p.BandLow), fixed(p.BandHigh),
			}
			if v.by != "" {
				row = append([]string{v.names[g]}, row...)
			}
			rows = append(rows, row)
		}
	}
	right := numbersAfter(header)
	if v.by != "" {
		right[1] = false
	}
	return showCounted(s, header, right, rows, v.words(), v.release)
}

// words returns the lines below the table.
func (v *survived) words() []string {
	percent := render.Number6(100 * v.confidence)
	lines := []string{
		"The share to whom the event has not happened by the end of each period (Kaplan–Meier), from noisy counts with noise " +
			v.noise + ".",
		percent + " % intervals cover noise and sampling at one time; the band covers the whole curve.",
	}
	lines = append(append(lines, v.coarse()...), v.short()...)
	lines = append(append(lines, v.persons...), v.release.warnings()...)
	return append(lines, v.release.footer()...)
}

// short returns notes on curves that end before the grid does, or are empty.
func (v *survived) short() (lines []string) {
	for g, curve := range v.curves {
		of := ""
		if v.by != "" {
			of = " of " + v.by + " " + v.names[g]
		}
		switch {
		case len(curve) == 0:
			lines = append(lines, "There is no curve"+of+": too few people are at risk for this noise. Ask with a larger price, or "+
				"with fewer --periods.")
		case len(curve) < len(v.periods):
			lines = append(lines, "The curve"+of+" ends before period "+v.periods[len(curve)]+
				": after it, too few people are at risk for this noise.")
		}
	}
	return lines
}

// coarse returns a note on periods of several values, with the most by which a share may be off because of them.
func (v *survived) coarse() []string {
	var notes []string
	if v.grouped {
		notes = append(notes, "Times are known to the period only. The curve assumes that people leave evenly over a period.")
	}
	last, reached := len(v.periods)-1, false
	most, where := 0.0, ""
	for g, curve := range v.curves {
		for j, p := range curve {
			if j == last { // all who are left leave in the grid's last period, so Grouping does not limit its share
				reached = true
				continue
			}
			if p.Coarse() && p.Grouping > most {
				most, where = p.Grouping, "in period "+v.periods[j]
				if v.by != "" {
					where += " of " + v.by + " " + v.names[g]
				}
			}
		}
	}
	if most > 0 {
		notes = append(notes, fmt.Sprintf("Otherwise it may be too high or too low by up to %s (%s), which no interval covers. "+
			"More --periods lower this.", strconv.FormatFloat(most, 'g', 2, 64), where))
	}
	if reached && v.starts[last] < v.ends[last] {
		notes = append(notes, "In the last period, "+v.periods[last]+", the curve assumes that people leave at the end. "+
			"If they leave earlier, the share there may be too high by any amount.")
	}
	if notes == nil {
		return nil
	}
	return []string{strings.Join(notes, " ")}
}

type survivalJSON struct {
	Kind       string              `json:"kind"`
	By         *string             `json:"by"`
	Confidence float64             `json:"confidence"`
	Curves     []curveJSON         `json:"curves"`
	Limits     *curator.Limits     `json:"bounds,omitempty"`
	Truncation *curator.Truncation `json:"truncation,omitempty"`
	Release    releaseJSON         `json:"release"`
	Notes      []string            `json:"notes"`
}

type curveJSON struct {
	Group  *string     `json:"group"`
	Points []pointJSON `json:"points"`
}

type pointJSON struct {
	Period   string  `json:"period"`
	Time     float64 `json:"time"` // the end of the period
	AtRisk   float64 `json:"at_risk"`
	Share    float64 `json:"value"`
	StdDev   float64 `json:"stddev"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	BandLow  float64 `json:"band_low"`
	BandHigh float64 `json:"band_high"`
	// the most by which the share is off if people do not leave evenly over a period
	Grouping float64 `json:"grouping"`
}

func (v *survived) json() survivalJSON {
	r := v.release
	out := survivalJSON{
		Kind: "survival", Confidence: v.confidence, Limits: r.Limits, Truncation: r.Truncation,
		Release: releaseJSON{r.ID, r.Price.String(), r.Remaining.String(), r.Replayed},
		Notes:   slices.Concat([]string{}, v.coarse(), v.short(), v.persons, r.warnings()), Curves: []curveJSON{},
	}
	if v.by != "" {
		out.By = &v.by
	}
	for g, curve := range v.curves {
		c := curveJSON{Points: []pointJSON{}}
		if v.by != "" {
			c.Group = &v.names[g]
		}
		for j, p := range curve {
			c.Points = append(c.Points, pointJSON{
				v.periods[j], v.ends[j], p.AtRisk, p.Share, p.StdError, p.Low, p.High, p.BandLow, p.BandHigh,
				p.Grouping,
			})
		}
		out.Curves = append(out.Curves, c)
	}
	return out
}

// picture draws the curves as steps, each with its band.
func (v *survived) picture() plot.Lines {
	caption := "Dashed: bands that cover a whole curve, noise and sampling, with " + render.Number6(100*v.confidence) +
		" % confidence."
	for _, note := range v.coarse() {
		caption += " " + note
	}
	if !slices.ContainsFunc(v.curves, func(c []hypothesis.Survived) bool { return len(c) > 0 }) {
		caption = "There is no curve: too few people are at risk for this noise."
	}
	drawn := v.largest(plot.MaxSeries)
	if len(drawn) < len(v.curves) {
		caption = fmt.Sprintf("The %d largest of %d groups. ", len(drawn), len(v.curves)) + caption
	}
	l := plot.Lines{
		Title: "survival in " + v.table, X: v.column, Y: "share without the event", Linear: true,
		Caption: render.BoundedCaption(v.release.Limits,
			render.TruncatedCaption(render.TruncationText(v.release.Truncation), caption)),
		Reach: []plot.Point{{X: v.start(), Y: 0}, {X: v.end(), Y: 1}},
		Below: "people at risk, by noisy counts",
	}
	for _, g := range drawn {
		curve := v.curves[g]
		line := plot.Line{Name: v.names[g], Points: v.steps(curve, 1, func(p hypothesis.Survived) float64 { return p.Share })}
		line.Edges[0] = v.steps(curve, math.NaN(), func(p hypothesis.Survived) float64 { return p.BandLow })
		line.Edges[1] = v.steps(curve, math.NaN(), func(p hypothesis.Survived) float64 { return p.BandHigh })
		for j, p := range curve {
			number := strconv.FormatFloat(math.Round(p.AtRisk), 'f', 0, 64)
			line.Below = append(line.Below, plot.Below{X: v.starts[j], Text: number})
		}
		l.Lines = append(l.Lines, line)
	}
	return l
}

// start returns the time at which curves begin: the start of the first period, or 0 if periods are single values.
func (v *survived) start() float64 {
	if len(v.starts) == 0 {
		return 0
	}
	if first := v.starts[0]; first == v.ends[0] { // single values, which are at their ends
		return min(0, first)
	}
	return v.starts[0]
}

// end returns the right end of the time axis: a little after the last period, so that the last step is visible.
func (v *survived) end() float64 {
	if len(v.ends) == 0 {
		return 1
	}
	last := v.ends[len(v.ends)-1]
	return last + tail*(last-v.start())
}

// tail is the length of a line after its last step, as a part of the axis.
const tail = 0.02

// largest returns the n groups with the most people at risk at first, or all groups, in the order of the table.
func (v *survived) largest(n int) []int {
	var groups []int
	for g := range v.curves {
		groups = append(groups, g)
	}
	people := func(g int) float64 {
		if len(v.curves[g]) == 0 {
			return 0
		}
		return v.curves[g][0].AtRisk
	}
	slices.SortStableFunc(groups, func(a, b int) int { return cmp.Compare(people(b), people(a)) })
	groups = groups[:min(n, len(groups))]
	slices.Sort(groups)
	return groups
}

// steps returns the corners of a line that changes at the end of each period, from a start value.
func (v *survived) steps(curve []hypothesis.Survived, start float64, of func(hypothesis.Survived) float64) (out []plot.Point) {
	if len(curve) == 0 {
		return nil
	}
	value := start
	out = append(out, plot.Point{X: v.start(), Y: value})
	for j, p := range curve {
		out = append(out, plot.Point{X: v.ends[j], Y: value})
		value = of(p)
		out = append(out, plot.Point{X: v.ends[j], Y: value})
	}
	last := out[len(out)-1].X
	return append(out, plot.Point{X: last + v.end() - v.ends[len(v.ends)-1], Y: value})
}

package statistics

import (
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

// ofItself reports for the direct rate and for the ratio whether the standard is the only group itself. Then the direct
// rate is the crude one, and the ratio is 1, whatever the rows are.
func (v *rated) ofItself() (direct, ratio bool) {
	return v.by == "" && !v.given[0], v.by == "" && !v.given[1]
}

func (v *rated) show(s *console.Console) error {
	crude, one := v.ofItself()
	header := []string{"people", "events", "crude", "standardised", "std. error", "low", "high", "ratio", "low", "high"}
	number, missing := render.Number6, "–"
	switch s.Format {
	case "json":
		return s.JSON(v.json())
	case "csv":
		header = []string{"people", "events", "crude", "value", "stddev", "low", "high", "ratio", "ratio_low", "ratio_high"}
		number = func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
		missing = ""
	default:
		number = func(x float64) string { return render.Fixed(x, 5) }
	}
	of := func(x float64) string {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return missing
		}
		return number(x)
	}
	var rows [][]string
	for g, r := range v.direct {
		ratio := v.indirect[g]
		row := []string{render.Number6(r.People), render.Number6(r.Events), of(r.Crude)}
		if math.IsNaN(r.Value) {
			row = append(row, missing, missing, missing, missing)
		} else {
			row = append(row, of(r.Value), of(r.StdError), of(r.Low), of(r.High))
		}
		if math.IsNaN(ratio.Value) || one {
			row = append(row, missing, missing, missing)
		} else {
			row = append(row, of(ratio.Value), of(ratio.Low), of(ratio.High))
		}
		rows = append(rows, append([]string{v.counted.groups[g]}, row...))
	}
	header = append([]string{v.by}, header...)
	if s.Format != "csv" { // whose columns are always the same
		for i, row := range rows {
			rows[i] = v.telling(row, crude, one)
		}
		header = v.telling(header, crude, one)
	}
	return showCounted(s, header, numbersAfter(header), rows, v.words(), v.release)
}

// telling leaves out of a row of the table the columns that say nothing: the standardised rate if it is the crude one, and
// the ratio if it is 1.
func (v *rated) telling(row []string, crude, one bool) []string {
	if one {
		row = row[:8]
	}
	if crude {
		row = slices.Delete(row, 4, 5)
	}
	return row
}

// words returns the lines below the table.
func (v *rated) words() []string {
	standard := func(given bool) string {
		if given {
			return "are those given"
		}
		return "are those of all groups together, from the noisy counts"
	}
	var lines []string
	crude, one := v.ofItself()
	if !crude {
		lines = append(lines, "Standardised for "+v.column+": the rate with the strata of a standard population, whose shares "+
			standard(v.given[0])+".")
	}
	if !one {
		lines = append(lines, "The ratio is of the events to those expected at standard rates, which "+standard(v.given[1])+".")
	}
	lines = append(lines, render.Number6(100*v.confidence)+" % intervals cover noise and sampling. The noise is "+
		noiseText(v.counted.noise)+".")
	lines = append(append(lines, v.notes()...), v.release.dependent("intervals assume")...)
	return append(lines, v.release.footer()...)
}

// notes returns notes on what is not standardised, on the strata that are merged, and on groups without a rate.
func (v *rated) notes() []string {
	lines, merged := []string{}, []string(nil) // nil until a group has a rate
	crude, one := v.ofItself()
	switch {
	case crude && one:
		lines = append(lines, "Nothing is standardised: the only group is its own standard. Name groups to compare by --by, or a "+
			"standard by --weights or --rates.")
	case crude:
		lines = append(lines, "The rate is the crude one: the only group is its own standard. Name a standard population by --weights.")
	case one:
		lines = append(lines, "There is no ratio: the only group is its own standard. Name standard rates by --rates.")
	}
	for g, r := range v.direct {
		of := ""
		if v.by != "" {
			of = " of " + v.by + " " + v.counted.groups[g]
		}
		switch {
		case !math.IsNaN(r.Value) && merged == nil: // the merged strata are the same for all groups
			merged = []string{}
			switch {
			case crude:
			case len(r.Merged) == 1 && len(v.counted.parts) > 1:
				lines = append(lines, "The strata are merged into one, because of too few people for this noise: the standardised "+
					"rates are the crude ones. "+v.moreStrata())
			default:
				merged = append(merged, v.joined(r, "for the rates")...)
			}
		case !math.IsNaN(r.Value):
		case v.key.numeric:
			lines = append(lines, "All strata"+of+" together have too few people for this noise ("+
				render.Number6(r.People)+" counted), so there is no rate. "+
				"Ask with a larger price, or with fewer strata (--bins).")
		default:
			stratum, people := v.least(g)
			lines = append(lines, fmt.Sprintf("Stratum %s%s has too few people for this noise (%s counted), so there is no "+
				"standardised rate. Ask with a larger price, or leave out values with few people by --where.", stratum, of,
				render.Number6(people)))
		}
	}
	for _, r := range v.indirect {
		if !math.IsNaN(r.Value) && !one {
			merged = append(merged, v.joined(r, "for the ratios")...)
			break
		}
	}
	if len(merged) > 0 {
		lines = append(lines, "Strata with too few people for this noise are merged with their neighbours, alike for all groups: "+
			strings.Join(merged, "; ")+". "+v.moreStrata())
	}
	return lines
}

// moreStrata returns advice for those who want fewer strata to be merged.
func (v *rated) moreStrata() string {
	if len(v.counted.groups) > 1 {
		return "A larger price leaves more strata, and so does leaving out groups with few people by --where."
	}
	return "A larger price leaves more strata."
}

// joined returns a text that lists the merged strata of a rate, or nothing if there are none.
func (v *rated) joined(r hypothesis.Rate, of string) []string {
	var names []string
	for i, part := range r.Merged {
		if part[0] < part[1] {
			names = append(names, v.strata(r)[i])
		}
	}
	if names == nil {
		return nil
	}
	return []string{of + " " + strings.Join(names, ", ")}
}

// merged reports whether strata were merged for a rate.
func (v *rated) merged(r hypothesis.Rate) bool {
	return r.Merged != nil && len(r.Merged) < len(v.counted.parts)
}

// strata returns the names of the strata of a rate.
func (v *rated) strata(r hypothesis.Rate) (names []string) {
	for _, part := range r.Merged {
		names = append(names, v.key.span(v.counted.parts[part[0]], v.counted.parts[part[1]]))
	}
	return names
}

// least returns the stratum of a group with the least noisy count of people, and this count.
func (v *rated) least(group int) (stratum string, people float64) {
	people = math.Inf(1)
	for j, name := range v.counted.parts {
		if n := v.counted.with[group][j] + v.counted.without[group][j]; n < people {
			stratum, people = name, n
		}
	}
	return stratum, people
}

type rateJSON struct {
	Kind        string              `json:"kind"`
	By          *string             `json:"by"`
	Standardise string              `json:"standardise"`
	Strata      []string            `json:"strata"`
	Confidence  float64             `json:"confidence"`
	Rates       []groupRateJSON     `json:"rates"`
	Limits      *curator.Limits     `json:"bounds,omitempty"`
	Truncation  *curator.Truncation `json:"truncation,omitempty"`
	Release     releaseJSON         `json:"release"`
	Notes       []string            `json:"notes"`
}

type groupRateJSON struct {
	Group  *string  `json:"group"`
	People float64  `json:"people"`
	Events float64  `json:"events"`
	Crude  *float64 `json:"crude"`
	Direct rateOf   `json:"direct"`
	Ratio  rateOf   `json:"ratio"`
}

// rateOf is an estimate. All its numbers are null if there is none. The strata are listed if some of them are merged.
type rateOf struct {
	Value  *float64 `json:"value"`
	StdDev *float64 `json:"stddev"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Strata []string `json:"strata,omitempty"`
}

func (v *rated) value(r hypothesis.Rate) rateOf {
	if math.IsNaN(r.Value) {
		return rateOf{}
	}
	out := rateOf{
		Value: render.NumberOrNull(r.Value), StdDev: render.NumberOrNull(r.StdError), Low: render.NumberOrNull(r.Low),
		High: render.NumberOrNull(r.High),
	}
	if v.merged(r) {
		out.Strata = v.strata(r)
	}
	return out
}

func (v *rated) json() rateJSON {
	r := v.release
	out := rateJSON{
		Kind: "rate", Standardise: v.column, Strata: v.counted.parts, Confidence: v.confidence, Limits: r.Limits,
		Truncation: r.Truncation, Release: releaseJSON{r.ID, r.Price.String(), r.Remaining.String(), r.Replayed},
		Notes: append(v.notes(), r.dependent("intervals assume")...),
	}
	if v.by != "" {
		out.By = &v.by
	}
	_, itself := v.ofItself()
	for g, d := range v.direct {
		one := groupRateJSON{People: d.People, Events: d.Events, Crude: render.NumberOrNull(d.Crude), Direct: v.value(d)}
		if !itself {
			one.Ratio = v.value(v.indirect[g])
		}
		if v.by != "" {
			one.Group = &v.counted.groups[g]
		}
		out.Rates = append(out.Rates, one)
	}
	return out
}

// picture draws the rates and the ratios with their intervals.
func (v *rated) picture() plot.Chart {
	caption := "Whiskers: " + render.Number6(100*v.confidence) + " % intervals, which cover noise and sampling."
	c := plot.Chart{Title: "rates in " + v.table + ", standardised for " + v.column, Key: v.by, Groups: v.counted.groups}
	panels := []plot.Panel{
		{Name: "standardised rate", Points: true}, {Name: "ratio of observed to expected events", Points: true, Line: new(1.0)},
	}
	crude, one := v.ofItself()
	if crude {
		c.Title, panels[0].Name = "rate in "+v.table, "crude rate"
	}
	if one {
		panels = panels[:1]
	}
	for i := range panels {
		marks := make([]plot.Mark, len(v.direct))
		var none []string
		for g, r := range [][]hypothesis.Rate{v.direct, v.indirect}[i] {
			marks[g] = plot.Mark{Value: r.Value, Low: r.Low, High: r.High, Missing: math.IsNaN(r.Value)}
			if marks[g].Missing {
				none = append(none, v.counted.groups[g])
			}
		}
		if len(none) > 0 {
			caption += " Too few people for a " + [2]string{"rate", "ratio"}[i]
			if v.by != "" {
				caption += " of " + v.by + " " + strings.Join(none, ", ")
			}
			caption += "."
		}
		panels[i].Marks = [][]plot.Mark{marks}
	}
	c.Panels = panels
	c.Caption = render.BoundedCaption(v.release.Limits,
		render.TruncatedCaption(render.TruncationText(v.release.Truncation), caption))
	return c
}

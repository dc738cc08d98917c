package bounds

import (
	"fmt"
	"math"

	"dither/curator"
)

// advise compares the present declarations of a table with the best ones, and adds the advice to the report.
func (v *visit) advise() {
	change := curator.Redeclared{Table: v.table.Name, Bounds: map[string][2]string{}}
	rows := rowsOf{most: 1, counted: 1}
	if v.rows != nil {
		var a Advice
		rows, a = v.bestRows()
		if v.out.Advice = append(v.out.Advice, a); a.Better != "" {
			change.RowsPerUnit = int64(rows.most)
		}
	} else if v.table.Unit != "" {
		rows.most = float64(v.table.Limits.MaxRows)
	}
	if a, g, ok := v.bestGroups(rows); ok {
		v.out.Advice = append(v.out.Advice, a)
		if a.Better != "" {
			change.MaxGroups = g
		}
	}
	for _, s := range v.order {
		a, bounds := v.bestBounds(s, rows)
		if v.out.Advice = append(v.out.Advice, a); a.Better != "" {
			change.Bounds[s.column.Name] = bounds
		}
	}
	if change.RowsPerUnit > 0 || change.MaxGroups > 0 || len(change.Bounds) > 0 {
		v.out.Changes = append(v.out.Changes, change)
	}
}

// limited returns what counts with a limit on the rows of a unit. Every unit has one row at least.
func (c *column) limited(most float64) (out rowsOf, beyond float64) {
	all, _ := c.upper.at(1)
	lost, beyond := c.upper.at(most)
	return rowsOf{most: most, counted: c.units + all - lost, lost: lost}, beyond
}

// of returns the rows that have a value of a column, if every unit with a value has as many as others.
func (r rowsOf) of(c, units *column) rowsOf {
	share := c.units
	if units != nil {
		share = math.Min(c.units/units.units, 1)
	}
	return rowsOf{r.most, r.counted * share, r.lost * share}
}

// bestRows returns the limit on the rows of a unit with the least mean error of all typical questions about the table,
// each with the best bounds for that limit.
func (v *visit) bestRows() (rowsOf, Advice) {
	total := func(most float64) float64 {
		rows, _ := v.rows.limited(most)
		sum := rows.errorOfCounts(v.noise)
		for _, s := range v.order {
			c := v.columns[s.column.Name]
			sum += c.best(rows.of(c, v.rows), v.noise).error
		}
		return sum / float64(len(shares)*(1+2*len(v.order)))
	}
	now := float64(v.table.Limits.MaxRows)
	best, least := now, total(now)
	present := least
	for _, m := range v.rows.upper.bounds {
		if m < 1 || m > float64(v.table.Limits.StoredRows) {
			continue
		}
		if e := total(m); e < least {
			best, least = m, e
		}
	}
	rows, cuts := v.rows.limited(now)
	better, betterCuts := v.rows.limited(best)
	a := v.advice(v.rows, string(rowsPerUnit), "", cuts, betterCuts, present, least)
	a.Present, a.Better = fmt.Sprint(v.table.Limits.MaxRows), fmt.Sprint(int64(best))
	a.Reason = fmt.Sprintf("%s have more rows than %s", percent(*a.Cuts), a.Present)
	if a.keeps(present, least) {
		return rows, a
	}
	return better, a
}

// bestGroups returns the limit on the groups of a unit with the least error of counts of units, for the key of which
// units have most groups.
func (v *visit) bestGroups(rows rowsOf) (Advice, int64, bool) {
	var out Advice
	most, found := int64(0), false
	for _, g := range v.groups {
		cells := float64(max(len(g.subject.column.Values), 2))
		side := g.upper
		error := func(most float64) float64 {
			all, _ := side.at(1)
			lost, _ := side.at(most)
			return math.Hypot(lost/cells, v.noise.count*most) / ((g.units + all) / cells)
		}
		now := g.present()
		best := now
		for _, n := range side.bounds {
			if 1 <= n && n <= math.Min(cells, rows.most) && error(n) < error(best) {
				best = n
			}
		}
		if found && int64(best) <= most {
			continue
		}
		most, found = int64(best), true
		_, cuts := side.at(now)
		_, betterCuts := side.at(best)
		out = v.advice(g.column, string(maxGroups), g.subject.column.Name, cuts, betterCuts, error(now), error(best))
		out.Present, out.Better = fmt.Sprint(v.table.Limits.MaxGroups), fmt.Sprint(most)
		out.Reason = fmt.Sprintf("%s have more values of %s than %s", percent(*out.Cuts),
			curator.SQLName(g.subject.column.Name), out.Present)
		if float64(v.table.Limits.MaxGroups) <= rows.most { // a limit above rows_per_unit is not possible
			out.keeps(error(now), error(best))
		}
	}
	return out, most, found
}

// calendarWorth is the further factor by which the error must fall so that other bounds of dates are worth it.
const calendarWorth = 1.25

// bestBounds returns the bounds of a column with the least error of typical questions.
func (v *visit) bestBounds(s subject, rows rowsOf) (Advice, [2]string) {
	c := v.columns[s.column.Name]
	rows = rows.of(c, v.rows)
	best := c.best(rows, v.noise)
	a := v.advice(c, string(boundsOf), s.column.Name, 0, best.below+best.above, 0, best.error)
	bounds := [2]string{s.kind.text(best.low), s.kind.text(best.high)}
	a.Present, a.Better = s.declaration(), "["+bounds[0]+", "+bounds[1]+"]"
	low, high, bounded := s.declared()
	if !bounded {
		a.Cuts, a.Error = nil, nil
		a.Reason = "without bounds, only comparisons and counts are possible"
		return a, bounds
	}
	lostBelow, below := c.lower.at(low)
	lostAbove, above := c.upper.at(high)
	now := c.errorOf(low, high, lostBelow+lostAbove, rows, v.noise)
	*a.Cuts = 100 * (below + above) / c.units
	*a.Error = 100 * now / float64(2*len(shares))
	beyond := "one above " + s.column.Upper
	if !s.kind.whole() { // the bins of reals tell nothing about the bound itself
		beyond = "one of " + s.column.Upper + " or more"
	}
	a.Reason = fmt.Sprintf("%s have a value below %s, and %s have %s",
		percent(100*below/c.units), s.column.Lower, percent(100*above/c.units), beyond)
	if s.kind.calendar() { // few questions have noise that grows with the range of dates
		now /= calendarWorth
	}
	a.keeps(now, best.error)
	return a, bounds
}

// advice returns an advice about a column, with shares and errors in percent.
func (v *visit) advice(c *column, what, name string, cuts, betterCuts, error, betterError float64) Advice {
	finite := func(x float64) *float64 {
		x = math.Min(math.Max(x, 0), math.MaxFloat64)
		return &x
	}
	share := func(x float64) *float64 { return finite(100 * x / c.units) }
	mean := func(x float64) *float64 {
		if x *= 100; what == string(boundsOf) {
			x /= float64(2 * len(shares))
		}
		return finite(x)
	}
	return Advice{
		Table: v.table.Name, Column: name, What: what, Units: math.Round(c.units),
		Cuts: share(cuts), BetterCuts: share(betterCuts), Error: mean(error), BetterError: mean(betterError),
	}
}

// keeps takes the advice back if the errors say that the change is not worth it.
func (a *Advice) keeps(now, best float64) bool {
	if now >= worthwhile*best && a.Better != a.Present {
		return false
	}
	a.Better, a.BetterCuts, a.BetterError = "", nil, nil
	a.Reason += "; another declaration would not help much"
	return true
}

// percent writes a share of the units, in percent.
func percent(x float64) string {
	switch {
	case x < 0.005:
		return "hardly any units"
	case x < 1:
		return fmt.Sprintf("about %.2g %% of the units", x)
	}
	return fmt.Sprintf("about %.3g %% of the units", x)
}

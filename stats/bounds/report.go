package bounds

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
)

// Report is the result of an examination.
type Report struct {
	Advice    []Advice             `json:"advice"`
	Changes   []curator.Redeclared `json:"-"`
	Releases  []string             `json:"releases"` // the releases from which everything here is computed
	Remaining curator.Loss         `json:"-"`
}

// Advice is what the doctor found about one declaration.
type Advice struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"`
	What   string `json:"what"` // rows_per_unit, max_groups, bounds or values
	// the present declaration, and a better one; "" if there is none
	Present string `json:"present"`
	Better  string `json:"better"`
	// the estimated shares, in percent, of the units that each of the two cuts; nil if it is not known
	Cuts       *float64 `json:"cuts_percent"`
	BetterCuts *float64 `json:"better_cuts_percent"`
	// the estimated mean error of typical questions at each of the two, in percent; nil if it is not known
	Error       *float64 `json:"error_percent"`
	BetterError *float64 `json:"better_error_percent"`
	Units       float64  `json:"units"` // the estimated number of units
	Abstains    bool     `json:"abstains"`
	Reason      string   `json:"reason"`
}

// worthwhile is the factor by which an error must fall so that a change is worth it.
const worthwhile = 1.05

// run asks all questions and puts the report together, table by table.
func (x *examination) run(ctx context.Context) (*Report, error) {
	out := &Report{}
	missing := false
	for _, t := range x.doctor.tables {
		v := visit{examination: x, table: t, out: out, columns: map[string]*column{}}
		for _, s := range x.doctor.subjects {
			if s.table.Name != t.Name {
				continue
			}
			switch err := v.examine(ctx, s); {
			case errors.Is(err, errUnreleased):
				missing = true
			case err != nil:
				return nil, err
			}
		}
		if !missing {
			v.advise()
		}
	}
	if missing {
		return nil, errUnreleased
	}
	out.Releases = x.ids
	if x.last != nil {
		out.Remaining = x.last.Remaining
	}
	return out, nil
}

// visit is the examination of one table.
type visit struct {
	*examination
	table   curator.Table
	out     *Report
	noise   noise
	rows    *column // the rows of a unit; nil if each row is a unit, or there are too few units
	groups  []grouped
	columns map[string]*column
	order   []subject // of the columns
}

type grouped struct {
	subject
	*column
}

// examine asks the questions about one subject.
func (v *visit) examine(ctx context.Context, s subject) error {
	if v.noise.count == 0 {
		if err := v.typical(ctx); err != nil {
			return err
		}
	}
	switch s.what {
	case valuesOf:
		return v.list(ctx, s)
	case boundsOf:
		h, units, err := s.kind.examined(v.histogram(ctx, s), v.noise.halved < 2)
		if err != nil || h == nil {
			v.abstain(s, units, err)
			return err
		}
		v.columns[s.column.Name] = s.kind.columnOf(h, units)
		v.order = append(v.order, s)
	default:
		most := v.table.Limits.StoredRows
		if s.what == maxGroups {
			most = int64(max(len(s.column.Values), 2))
		}
		h, err := v.histogram(ctx, s)(countEdges(most), big.NewRat(1, 1))
		if err != nil {
			return err
		}
		units := h.total()
		if !enough(units, h.sigma) {
			v.abstain(s, units, nil)
			return nil
		}
		c := integers.columnOf(h, h.clear(units).total())
		if s.what == rowsPerUnit {
			v.rows = c
		} else {
			v.groups = append(v.groups, grouped{s, c})
		}
	}
	return nil
}

// typical finds the noise of a count at the policy's default price. The weight makes it a measurement even if the policy
// declares the number of units.
func (v *visit) typical(ctx context.Context) error {
	q := curator.Question{SQL: "SELECT COUNT(*, weight => 1) FROM " + curator.SQLName(v.table.Name), Analyst: v.doctor.options.Analyst, Truncation: "0"}
	if v.table.Unit != "" {
		q.MaxRows = "1"
	}
	e, err := v.doctor.owner.Explain(ctx, q)
	if err != nil {
		return err
	}
	v.noise = noise{count: e.Columns[0].Expected.StdDev, halved: 2}
	if e.Columns[0].Mechanism == curator.DiscreteGaussian {
		v.noise.halved = math.Sqrt2
	}
	return nil
}

// countEdges returns the edges of a histogram of counts from 1 to most: every number up to 16, and further ones at
// ratios of a tenth.
func countEdges(most int64) (out []float64) {
	for e := 2.0; e <= float64(most); e = math.Max(e+1, math.Round(e*1.1)) {
		out = append(out, e)
	}
	return integers.settled(append(out, 1, float64(most)+1))
}

// present returns the declared number of rows or of groups.
func (s subject) present() float64 {
	if s.what == maxGroups {
		return float64(s.table.Limits.MaxGroups)
	}
	return float64(s.table.Limits.MaxRows)
}

// declared returns the declared bounds of a column.
func (s subject) declared() (low, high float64, ok bool) {
	if s.column.Lower == "" {
		return 0, 0, false
	}
	low, ok = s.kind.parsed(s.column.Lower)
	if ok {
		high, ok = s.kind.parsed(s.column.Upper)
	}
	return low, high, ok
}

// abstain reports that a subject has too few units.
func (v *visit) abstain(s subject, units float64, err error) {
	if err != nil {
		return
	}
	v.out.Advice = append(v.out.Advice, Advice{
		Table: s.table.Name, Column: s.column.Name, What: string(s.what), Present: s.declaration(), Units: math.Round(units),
		Abstains: true,
		Reason:   fmt.Sprintf("too few units for advice at this price: it needs about %s", curator.Thousands(int64(v.doctor.needs(s)))),
	})
}

// needs returns about how many units a subject needs.
func (d *Doctor) needs(s subject) float64 {
	if d.inRho {
		return d.Units * math.Sqrt(2/float64(s.weight))
	}
	return d.Units * 2 / float64(s.weight)
}

// declaration returns the present declaration of a subject, as the policy writes it.
func (s subject) declaration() string {
	switch {
	case s.what == rowsPerUnit || s.what == maxGroups:
		return fmt.Sprint(int64(s.present()))
	case s.what == boundsOf && s.column.Lower != "":
		return "[" + s.column.Lower + ", " + s.column.Upper + "]"
	}
	return ""
}

// list selects the values of a text column.
func (v *visit) list(ctx context.Context, s subject) error {
	r, err := v.ask(ctx, s, ofList(s), big.NewRat(1, 1))
	if err != nil {
		return err
	}
	a := Advice{Table: s.table.Name, Column: s.column.Name, What: string(valuesOf)}
	var values []string
	for _, row := range r.Rows {
		if text, ok := row[0].Key.(string); ok {
			values = append(values, text)
			a.Units += row[1].Estimate.Value.Real
		}
	}
	slices.Sort(values)
	a.Units = math.Round(a.Units)
	switch {
	case len(values) == 0:
		a.Abstains, a.Reason = true, "no value has enough units to be released"
	case len(values) > mostListed:
		a.Abstains, a.Reason = true, fmt.Sprintf("%d values are too many for a list", len(values))
	default:
		for i, x := range values {
			values[i] = curator.YAML(x)
		}
		a.Better = "[" + strings.Join(values, ", ") + "]"
		a.Reason = fmt.Sprintf("%d values have enough units to be released, with about %s units together. "+
			"A value that is not listed becomes NULL, so add what you know to be missing, and declare nullable: true",
			len(values), curator.Thousands(int64(a.Units)))
	}
	v.out.Advice = append(v.out.Advice, a)
	return nil
}

// mostListed is the largest number of values in a list.
const mostListed = 200

package synth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dither/synth/aim"
	"dither/synth/model"
)

// steps returns the largest number of steps: a first measurement, and rounds of a selection and a measurement.
func (p *Plan) steps() int {
	n := 1
	switch p.Method {
	case AIM:
		n = 2 + 2*planned*len(p.Columns)
	case MST:
		n = 2 + len(p.Columns)
	case MWEM:
		n = 1 + 2*mwemRounds
	}
	switch shapes := len(p.shapes()); {
	case p.apart:
		n += shapes
	case shapes+len(p.request.PrivateEdges) > 0:
		n++
	}
	return n
}

// targetWeight is the weight of marginals with the target, in that of others.
const targetWeight = 3

// mostSubsets bounds the marginals that are considered.
const mostSubsets = 1 << 18

// candidatesOf lists the marginals that may be measured, those of single columns first. Of the marginals that rows
// should have, it leaves out those that no model has room for, and then the largest until all fit together.
func (p *Plan) candidatesOf() error {
	d := len(p.Columns)
	ways, room := []int{2}, float64(MaxBytes)
	switch p.Method {
	case Independent:
		ways = nil
	case Fixed:
		return p.candidatesFixed()
	case MWEM:
		all := make([]int, d)
		for i := range all {
			all[i] = i
		}
		if cells := p.domain.Cells(all...); cells > mwemCells {
			return usage("use --method aim, or "+p.fitting(mwemCells),
				"MWEM keeps a weight for each of %.3g combinations of values, and can keep %d", cells, mwemCells)
		}
		ways = p.request.Ways
		p.candidates = [][]int{{}} // the number of rows
	case AIM:
		ways, room = p.request.Ways, p.request.ModelBytes
		p.candidates = [][]int{{}} // the number of rows
		size, err := model.Size(p.domain, append(p.ones(), p.constrained()...))
		if err != nil {
			return err
		}
		if size > room {
			return usage(fmt.Sprintf("give --model-size %.0fkB or more, or fewer --bins", math.Ceil(size/1024)),
				"the single columns alone need a model of %.0f bytes, above %.0f", size, room)
		}
	}
	asked := len(p.request.Workload) > 0
	wanted, target := p.wanted(), -1
	if name := p.request.Target; name != "" {
		if target = p.place(name); target < 0 {
			return usage("`--explain` lists the columns", "--target: there is no column %q in the synthetic table", name)
		}
	}
	if len(ways) > 0 && !asked {
		if least := slices.Min(ways); least > max(d, 2) {
			return usage("give --ways 2, or name more columns", "no marginal has %d of the %d columns", least, d)
		}
		for _, k := range ways {
			for _, s := range subsets(d, k, mostSubsets) {
				m := aim.Marginal{Attributes: s, Weight: 1}
				if slices.Contains(s, target) {
					m.Weight = targetWeight
				}
				wanted = append(wanted, m)
			}
		}
	}
	if p.inner > 0 {
		wanted = slices.DeleteFunc(wanted, func(m aim.Marginal) bool { return m.Attributes[0] >= p.inner }) // they are ascending
	}
	slices.SortStableFunc(wanted, func(a, b aim.Marginal) int {
		return cmp.Compare(p.domain.Cells(a.Attributes...), p.domain.Cells(b.Attributes...))
	})
	known, total := map[string]bool{}, 0.0
	// taken adds a marginal and its subsets, which are candidates too, unless they are too large
	taken := func(s []int) bool {
		var fresh [][]int
		cells := 0.0
		for k := range s {
			for _, at := range subsets(len(s), k+1, mostSubsets) {
				part := make([]int, len(at))
				for i, a := range at {
					part[i] = s[a]
				}
				if !known[name(part)] {
					fresh, cells = append(fresh, part), cells+p.domain.Cells(part...)
				}
			}
		}
		if total+cells > mostCells || len(known)+len(fresh) > p.most {
			return false
		}
		for _, part := range fresh {
			known[name(part)] = true
		}
		p.candidates, total = append(p.candidates, fresh...), total+cells
		return true
	}
	var kept []aim.Marginal
	for _, s := range p.ones() {
		if !taken(s) {
			return usage("name fewer columns, or give fewer --bins", "the columns have more than %d cells", mostCells)
		}
		kept = append(kept, aim.Marginal{Attributes: s, Weight: 1})
	}
	for _, m := range wanted {
		s := m.Attributes
		if len(s) == 1 {
			kept[s[0]].Weight = max(kept[s[0]].Weight, m.Weight)
			continue
		}
		if tooLarge := 8*p.domain.Cells(s...) > room; tooLarge || !taken(s) {
			if asked {
				return p.doesNotFit(s, tooLarge)
			}
			p.LeftOut++
			continue
		}
		kept = append(kept, m)
	}
	if p.LeftOut > 0 && len(kept) == d {
		return p.nothingFits(wanted, room)
	}
	p.Candidates = len(p.candidates)
	if p.Method != AIM {
		return nil
	}
	var err error
	if p.workload, err = aim.NewWorkload(p.domain, kept); err != nil {
		return usage("name fewer columns", "%v", err)
	}
	return nil
}

// nothingFits refuses marginals of several columns of which none fits. The model would have single columns alone.
func (p *Plan) nothingFits(wanted []aim.Marginal, room float64) error {
	at := slices.IndexFunc(wanted, func(m aim.Marginal) bool { return len(m.Attributes) > 1 }) // the smallest, as they are sorted
	s := wanted[at].Attributes
	cells, hint := p.domain.Cells(s...), "give fewer --bins, or name fewer columns"
	if size := 8 * cells; size > room && size <= MaxBytes && cells <= mostCells {
		hint = fmt.Sprintf("give --model-size %.0fkB or more, or fewer --bins, or --ways of fewer columns", math.Ceil(size/1024))
	}
	return usage(hint, "no marginal of several columns fits: the smallest, of %s, has %.0f cells, which need %.0f bytes",
		strings.Join(p.names(s), ", "), cells, 8*cells)
}

// doesNotFit refuses a marginal of the workload: it is too large for the model, or for all candidates together.
func (p *Plan) doesNotFit(s []int, tooLarge bool) error {
	cells := p.domain.Cells(s...)
	if tooLarge {
		return usage(fmt.Sprintf("give --model-size %.0fkB or more, or fewer --bins, or leave the question out", math.Ceil(8*cells/1024)),
			"the workload's marginal of %s has %.0f cells, which need %.0f bytes, above the model's %.0f",
			strings.Join(p.names(s), ", "), cells, 8*cells, p.request.ModelBytes)
	}
	return usage("ask fewer questions, or give fewer --bins",
		"the workload's marginal of %s has %.0f cells: all candidates together have at most %d cells", strings.Join(p.names(s), ", "),
		cells, mostCells)
}

// ones returns the marginals of single columns.
func (p *Plan) ones() (out [][]int) {
	for i := range p.Columns {
		out = append(out, []int{i})
	}
	return out
}

// subsets returns the subsets of k of n numbers, at most most of them.
func subsets(n, k, most int) (out [][]int) {
	var extend func(from int, so []int)
	extend = func(from int, so []int) {
		if len(so) == k {
			out = append(out, slices.Clone(so))
			return
		}
		for i := from; i < n && len(out) < most; i++ {
			extend(i+1, append(so, i))
		}
	}
	extend(0, nil)
	return out
}

// Private reports whether the cells of a column will be chosen privately. Then Cells is the largest number of them.
func (p *Plan) Private(c *Column) bool {
	return slices.Contains(p.request.PrivateEdges, c.Name) || slices.Contains(p.request.PrivateValues, c.Name)
}

// names returns the names of columns.
func (p *Plan) names(of []int) []string {
	out := []string{}
	for _, i := range of {
		out = append(out, p.Columns[i].Name)
	}
	return out
}

// String describes a column.
func (c *Column) String() string { return fmt.Sprintf("%s (%d cells)", c.Name, c.Cells) }

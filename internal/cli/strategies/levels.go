package strategies

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/strategy"
	"dither/strategy/answer"
)

// places is the levels of a column's cells.
type places struct {
	names []string   // of the levels, the finest first
	paths [][]string // for each cell, its place on each level
	order []int      // for each cell, the index of its value among those of the question's key; nil without a question
}

// readPlaces reads a hierarchy from a file of CSV: a header with the names of the levels, the finest first, and a row for
// each cell.
func readPlaces(name string) (*places, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // the file is only read
	return placesOf(f)
}

func placesOf(in io.Reader) (*places, error) {
	r := csv.NewReader(in)
	names, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("the first line must name the levels, the finest first: %w", err)
	}
	p := &places{names: names}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		if p.paths = append(p.paths, record); len(p.paths) > strategy.MaxCells {
			return nil, fmt.Errorf("levels may have %d cells", strategy.MaxCells)
		}
	}
}

// levels returns the workload of a file's places. If it is alone, its cells are sorted first. Otherwise the cells must
// have the same order as those of other questions, so they keep it.
func levels(name string, alone bool) (strategy.Workload, error) {
	p, err := readPlaces(name)
	if err != nil {
		return strategy.Workload{}, err
	}
	if alone {
		p.sort()
	}
	return strategy.Levels(p.paths)
}

// sort orders cells by the coarsest level first, so that the cells of each place are next to each other if levels nest.
func (p *places) sort() {
	slices.SortStableFunc(p.paths, func(a, b []string) int {
		for l := len(a) - 1; l >= 0; l-- {
			if c := strings.Compare(a[l], b[l]); c != 0 {
				return c
			}
		}
		return 0
	})
}

// arrange orders a column's values as the cells of the places, and returns the column. The places of the finest level must
// be the values.
func (p *places) arrange(c *answer.Column) (*answer.Column, error) {
	at := map[string]int{}
	for i, v := range c.Values {
		at[render.KeyText(v)] = i
	}
	var order []int
	for _, path := range p.paths {
		i, known := at[path[0]]
		if !known {
			return nil, console.Usage("--levels: %s %q is listed twice, or is no value of the question's key", p.names[0], path[0])
		}
		delete(at, path[0])
		order = append(order, i)
	}
	for _, v := range c.Values {
		if _, left := at[render.KeyText(v)]; left {
			return nil, console.Usage("--levels: the file has no line for the value %q of the question's key", render.KeyText(v))
		}
	}
	p.order = order
	return c.Arrange(order)
}

// shown returns the indices of the queries in the order in which people read them: level by level, in the order of the key's
// values. Cells are sorted by the names of their places, which would put m10 before m2.
func (p *places) shown(queries []strategy.Query) []int {
	type line struct{ at, level, first int }
	lines := make([]line, len(queries))
	for i, q := range queries {
		lines[i] = line{at: i, first: slices.Min(p.order[q.Low:q.High])}
		if i > 0 {
			lines[i].level = lines[i-1].level
			if q.Low <= queries[i-1].Low { // a level has its places from left to right
				lines[i].level++
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.first, b.first))
	})
	out := make([]int, len(lines))
	for i, l := range lines {
		out[i] = l.at
	}
	return out
}

// name returns the places of an interval of cells, such as "state north".
func (p *places) name(low, high int) string {
	var names []string
	for l, level := range p.names {
		label := p.paths[low][l]
		first := slices.IndexFunc(p.paths, func(path []string) bool { return path[l] == label })
		if p.paths[high-1][l] == label && first == low && (high == len(p.paths) || p.paths[high][l] != label) {
			names = append(names, level+" "+render.Printable(label))
		}
	}
	return strings.Join(names, ", ")
}

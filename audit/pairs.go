package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The limits on pairs of coordinates, and on the cells of a coordinate.
const (
	mostPaired = 12 // largest number of coordinates of which every two are compared
	coarseBins = 4
	mostCells  = 8 // per coordinate: its ranges, its most frequent words, and one cell for everything else
	bestPairs  = 3 // pairs that become candidate scores on their own
)

// coarse divides a coordinate into few cells: four ranges with about a quarter of its numbers each, its most
// frequent words, and one cell for everything else.
type coarse struct {
	feature
	edges []float64
	words []string
}

func coarseOf(f feature, s sample) *coarse {
	p := cutInto(coarseBins, f, s)
	for len(p.edges) >= coarseBins { // each of few distinct numbers has a bin of its own: drop every other edge
		p.edges = everyOther(p.edges)
	}
	words := p.listed(func(share) bool { return true })
	return &coarse{f, p.edges, words[:min(len(words), mostCells-coarseBins-1)]}
}

func everyOther(x []float64) (out []float64) {
	for i := 1; i < len(x); i += 2 {
		out = append(out, x[i])
	}
	return out
}

// cell returns the index of the cell that contains the output's coordinate.
func (c *coarse) cell(o *output) int {
	f := c.of(o)
	if f.is == numeric {
		i, found := slices.BinarySearch(c.edges, f.number)
		if found {
			i++
		}
		return i
	}
	if i := slices.Index(c.words, f.key()); i >= 0 {
		return coarseBins + i
	}
	return mostCells - 1
}

// cellName describes cell i of a coordinate in words. It returns "" if no output can be in this cell.
func (c *coarse) cellName(i int) string {
	switch {
	case i <= len(c.edges):
		return stretch(c.edges, i, i)
	case i >= coarseBins && i < coarseBins+len(c.words):
		return c.token(c.words[i-coarseBins])
	case i == mostCells-1:
		return "else"
	}
	return ""
}

// pair is a score: the log-likelihood ratio of the joint cells of two coordinates. It uses information that only
// their dependence holds, for example whether they are equal.
type pair struct {
	a, b  *coarse
	cells [mostCells][mostCells]share
}

func (p *pair) of(o *output) float64 { return p.cells[p.a.cell(o)][p.b.cell(o)].ratio }

// each calls the function see for each pair of cells that outputs can be in, with the name of the pair.
func (p *pair) each(see func(name string, s share)) {
	for i := range mostCells {
		for j := range mostCells {
			if a, b := p.a.cellName(i), p.b.cellName(j); a != "" && b != "" {
				see("("+a+"; "+b+")", p.cells[i][j])
			}
		}
	}
}

func (p *pair) event(atLeast bool, t float64) (string, bool) {
	var names []string
	n, counted := 0, 0
	p.each(func(name string, s share) {
		if atLeast && s.ratio >= t || !atLeast && s.ratio <= t {
			n++
			if s.counts != [2]int{} {
				counted++
				names = append(names, name)
			}
		}
	})
	text := p.name() + " are "
	switch {
	case n == 0:
		return text + "nothing at all", true
	case counted == 0:
		return text + "in a cell that no run reached", false
	case n > counted || n > mostPieces:
		rest := n - min(len(names), mostPieces)
		return text + strings.Join(names[:min(len(names), mostPieces)], " or ") + " or in another of " +
			number(float64(rest)) + " such cells", false
	}
	return text + strings.Join(names, " or "), true
}

func (p *pair) name() string { return p.a.name + " and " + p.b.name }

func (p *pair) terms() []Term {
	t := Term{Of: p.name()}
	p.each(func(name string, s share) { t.Parts = append(t.Parts, Weight{name, s.ratio}) })
	return []Term{t}
}

// tells returns the L₁ distance between the two sides' relative frequencies of the cells.
func (p *pair) tells(runs [2]int) (sum float64) {
	for _, row := range p.cells {
		for _, s := range row {
			sum += math.Abs(
				float64(s.counts[0])/float64(max(1, runs[0])) - float64(s.counts[1])/float64(max(1, runs[1])))
		}
	}
	return sum
}

// paired is a score: the sum of the scores of all pairs of coordinates.
type paired struct {
	all   []*coarse
	pairs [][]*pair // pairs[i] holds the pairs of all[i] with each later coordinate
}

func (s paired) of(o *output) float64 {
	var at [mostPaired]int
	for i, c := range s.all {
		at[i] = c.cell(o)
	}
	sum := 0.0
	for i, row := range s.pairs {
		for j, p := range row {
			sum += p.cells[at[i]][at[i+1+j]].ratio
		}
	}
	return sum
}

func (s paired) event(atLeast bool, t float64) (string, bool) {
	return s.name() + "," + relation(atLeast) + number(t), false
}

func (s paired) name() string {
	return fmt.Sprintf("the sum of the log-likelihood ratios of all pairs of %d coordinates, as learned", len(s.all))
}

func (s paired) terms() (out []Term) {
	for _, row := range s.pairs {
		for _, p := range row {
			out = append(out, p.terms()...)
		}
	}
	return out
}

// pairsOf learns the scores of all pairs among d coordinates. It returns their sum, and the most informative pairs,
// as candidates.
func pairsOf(d int, s sample) []candidate {
	sum := paired{pairs: make([][]*pair, d)}
	for i := range d {
		sum.all = append(sum.all, coarseOf(coordinateFeature(i), s))
	}
	var list []*pair
	for i := range d {
		for j := i + 1; j < d; j++ {
			p := &pair{a: sum.all[i], b: sum.all[j]}
			sum.pairs[i], list = append(sum.pairs[i], p), append(list, p)
		}
	}
	runs := [2]int{len(s[0]), len(s[1])}
	for side := range s {
		for r := range s[side] {
			var at [mostPaired]int
			for i, c := range sum.all {
				at[i] = c.cell(&s[side][r])
			}
			for i, row := range sum.pairs {
				for j, p := range row {
					p.cells[at[i]][at[i+1+j]].counts[side]++
				}
			}
		}
	}
	for _, p := range list {
		for i := range p.cells {
			for j := range p.cells[i] {
				p.cells[i][j].rate(runs)
			}
		}
	}
	out := []candidate{{sum, figureOf(sum, sum.name()), 0, 0.06}}
	slices.SortStableFunc(list, func(p, q *pair) int { return cmp.Compare(q.tells(runs), p.tells(runs)) })
	for _, p := range list[:min(bestPairs, len(list))] {
		out = append(out, candidate{p, p.cellFeature(), 0, 0.04})
	}
	return out
}

// cellFeature returns a feature: the two cells that contain an output's coordinates, as a word. A histogram shows
// it.
func (p *pair) cellFeature() feature {
	return feature{p.name(), ofFigure, func(o *output) field {
		return field{text: "(" + p.a.cellName(p.a.cell(o)) + "; " + p.b.cellName(p.b.cell(o)) + ")", is: word}
	}}
}

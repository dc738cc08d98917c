package cluster

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dither/curator"
	"dither/stats/internal/request"
)

// vectors is an access as a question for the kernel.
func (s *kernelSource) vectors(l access, price curator.Request) curator.Vectors {
	q := price
	q.Analyst, q.Fresh = s.of.Analyst, s.of.Fresh
	var scaled []string
	for _, c := range s.columns {
		scaled = append(scaled, c.SQL())
	}
	q.SQL = "SELECT " + strings.Join(scaled, ", ") + " FROM " + s.from(l)
	if keys := s.keys(l); len(keys) > 0 {
		q.SQL += " GROUP BY " + strings.Join(keys, ", ")
	}
	q.SQL += fmt.Sprintf(" /* %d clusters by %s, seed %d: %s */", s.task.looks(), s.task.method, s.task.seed, l.about)
	norm := curator.L1
	if s.task.l2 {
		norm = curator.L2
	}
	v := curator.Vectors{
		Request: q, Blocks: []curator.Block{{Size: len(s.columns), Norm: norm, Bound: s.of.Radius}},
		Sums: []curator.Sum{curator.Count()}, Centres: l.centres,
	}
	if l.sums {
		v.Sums = append(v.Sums, curator.First(0))
	}
	return v
}

// keys are the GROUP BY items of an access's cells.
func (s *kernelSource) keys(l access) (out []string) {
	switch l.kind {
	case byBucket:
		for i, c := range s.columns {
			out = append(out, c.bucket(l.buckets[i]))
		}
	case bySide:
		for _, p := range l.planes {
			out = append(out, "COALESCE("+s.beyond(p)+", FALSE)")
		}
	case byLeaf:
		if l.tree.below != nil {
			out = append(out, s.leafOf(l.tree, 0))
		}
	}
	return out
}

// leafOf is the SQL of the leaf's number below a node, by the names of sides.
func (s *kernelSource) leafOf(n *treeNode, depth int) string {
	if n.below == nil {
		return strconv.Itoa(n.leaf)
	}
	return "CASE WHEN " + s.side(depth) + " THEN " + s.leafOf(n.beyond, depth+1) + " ELSE " +
		s.leafOf(n.below, depth+1) + " END"
}

// side is a name for the side of a plane, which no column has.
func (s *kernelSource) side(plane int) string {
	for name := fmt.Sprintf("side_%d", plane+1); ; name = "_" + name {
		if !slices.ContainsFunc(s.table.Columns,
			func(c curator.TableColumn) bool { return strings.EqualFold(c.Name, name) }) {
			return name
		}
	}
}

// from is the FROM clause of an access: the table, and for leaves the sides of the planes by name.
func (s *kernelSource) from(l access) string {
	text := curator.SQLName(s.table.Name) + request.Where(s.of.Where)
	if l.kind != byLeaf {
		return text
	}
	var names []string
	for _, c := range s.columns {
		names = append(names, curator.SQLName(c.Name))
	}
	for i, p := range l.planes {
		names = append(names, s.beyond(p)+" AS "+s.side(i))
	}
	return "(SELECT " + strings.Join(names, ", ") + " FROM " + text + ") AS sides"
}

// beyond is the SQL of being on the far side of a plane, in the columns' own units: rounding moves the plane by a
// trifle, and that is all. The sum is one of sums of a few terms each: the kernel takes no longer chain of additions,
// since each could lose digits.
func (s *kernelSource) beyond(p plane) string {
	var sums []string
	offset := p.offset
	for i, c := range s.columns {
		term := curator.SQLName(c.Name) + " * " + decimal(p.normal[i]/c.Half)
		offset += p.normal[i] * c.Middle / c.Half
		if i%termsOfASum == 0 {
			sums = append(sums, term)
			continue
		}
		sums[len(sums)-1] += " + " + term
	}
	if len(sums) > 1 {
		for i := range sums {
			sums[i] = "(" + sums[i] + ")"
		}
	}
	return strings.Join(sums, " + ") + " > " + decimal(offset)
}

const termsOfASum = 5

// decimal writes nine digits of a number, in SQL a real one; what the kernel counts as 0 is 0.
func decimal(x float64) string {
	if math.Abs(x) < 1.0/(1<<59) {
		x = 0
	}
	return strconv.FormatFloat(x, 'e', 8, 64)
}

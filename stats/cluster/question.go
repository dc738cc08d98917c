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

// vectors returns the question for the kernel that makes an access.
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

// keys returns the GROUP BY items that define an access's cells.
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

// leafOf returns the SQL that computes the number of a row's leaf below a node, from the names of the sides.
func (s *kernelSource) leafOf(n *treeNode, depth int) string {
	if n.below == nil {
		return strconv.Itoa(n.leaf)
	}
	return "CASE WHEN " + s.side(depth) + " THEN " + s.leafOf(n.beyond, depth+1) + " ELSE " +
		s.leafOf(n.below, depth+1) + " END"
}

// side returns a name for the side of a plane. No column of the table has this name.
func (s *kernelSource) side(plane int) string {
	for name := fmt.Sprintf("side_%d", plane+1); ; name = "_" + name {
		if !slices.ContainsFunc(s.table.Columns,
			func(c curator.TableColumn) bool { return strings.EqualFold(c.Name, name) }) {
			return name
		}
	}
}

// from returns the FROM clause of an access: the table or, for leaves, a subquery that names the sides of the
// planes.
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

// beyond returns the SQL condition that a row lies on the far side of a plane, in the columns' own units. Rounding
// the constants moves the plane slightly, which is harmless. The sum is split into sums of a few terms, because
// each addition could lose digits and the kernel refuses longer chains.
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

// decimal writes a number with nine digits, as a real number in SQL. Numbers that the kernel treats as 0 become 0.
func decimal(x float64) string {
	if math.Abs(x) < 1.0/(1<<59) {
		x = 0
	}
	return strconv.FormatFloat(x, 'e', 8, 64)
}

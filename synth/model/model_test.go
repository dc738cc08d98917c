package model

import (
	"math"
	"slices"
	"testing"

	"dither/internal/splitmix"
)

// uniform returns a number in (0, 1).
func uniform(r *splitmix.Stream) float64 { return (float64(r.Word()>>11) + 0.5) / (1 << 53) }

// normal returns a standard normal number.
func normal(r *splitmix.Stream) float64 {
	return math.Sqrt(-2*math.Log(uniform(r))) * math.Cos(2*math.Pi*uniform(r))
}

// someSets returns random sets of 0 to most of n attributes.
func someSets(r *splitmix.Stream, n, count, most int) [][]int {
	var out [][]int
	for range count {
		var members []int
		for a := range n {
			if len(members) < most && r.Below(n) < most {
				members = append(members, a)
			}
		}
		out = append(out, members)
	}
	return out
}

// someDomain returns a random domain of up to n attributes with up to most values.
func someDomain(r *splitmix.Stream, n, most int) *Domain {
	sizes := make([]int, 1+r.Below(n))
	for i := range sizes {
		sizes[i] = 1 + r.Below(most)
	}
	d, err := NewDomain(sizes...)
	if err != nil {
		panic(err)
	}
	return d
}

// joint is a table over the whole domain.
type joint struct {
	d      *Domain
	values []float64
}

// newJoint returns the table whose cells f computes from the codes of the attributes.
func newJoint(d *Domain, f func(codes []int) float64) *joint {
	j := &joint{d, make([]float64, int(d.Cells(all(d)...)))}
	for i := range j.values {
		j.values[i] = f(j.codes(i))
	}
	return j
}

func all(d *Domain) []int {
	out := make([]int, len(d.sizes))
	for i := range out {
		out[i] = i
	}
	return out
}

func (j *joint) codes(cell int) []int {
	out := make([]int, len(j.d.sizes))
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = cell % j.d.sizes[i]
		cell /= j.d.sizes[i]
	}
	return out
}

// place returns the cell of a marginal.
func place(d *Domain, members, codes []int) int {
	p := 0
	for _, m := range members {
		p = p*d.sizes[m] + codes[m]
	}
	return p
}

func (j *joint) marginal(members ...int) []float64 {
	out := make([]float64, int(j.d.Cells(members...)))
	for i, v := range j.values {
		out[place(j.d, members, j.codes(i))] += v
	}
	return out
}

// someMeasurements returns noisy marginals of a random distribution of total rows.
func someMeasurements(r *splitmix.Stream, d *Domain, total, deviation float64, sets [][]int) []Measurement {
	truth := newJoint(d, func([]int) float64 { return math.Exp(2 * normal(r)) })
	sum := 0.0
	for _, v := range truth.values {
		sum += v
	}
	for i := range truth.values {
		truth.values[i] *= total / sum
	}
	var out []Measurement
	for _, s := range sets {
		values := truth.marginal(s...)
		for i := range values {
			values[i] += deviation * normal(r)
		}
		out = append(out, Measurement{Attributes: s, Values: values, Variance: deviation * deviation})
	}
	return out
}

// furthest returns the largest difference of two tables.
func furthest(t *testing.T, got, want []float64) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d cells instead of %d", len(got), len(want))
	}
	most := 0.0
	for i := range got {
		if most = max(most, math.Abs(got[i]-want[i])); math.IsNaN(got[i]) {
			t.Fatalf("cell %d is %v", i, got[i])
		}
	}
	return most
}

// dense returns the joint table of the potentials of a model.
func (m *Model) dense() *joint {
	j := newJoint(m.domain, func(codes []int) float64 {
		sum := 0.0
		for _, f := range m.factors {
			sum += f.potential[place(m.domain, f.members, codes)]
		}
		return math.Exp(sum)
	})
	sum := 0.0
	for _, v := range j.values {
		sum += v
	}
	for i := range j.values {
		j.values[i] *= m.total / sum
	}
	return j
}

// Belief propagation gives the marginals of the joint table, for random trees and potentials.
func TestPropagationIsThatOfTheJointTable(t *testing.T) {
	r := splitmix.At(1)
	for range 300 {
		d := someDomain(&r, 7, 4)
		n := len(d.sizes)
		measurements := someMeasurements(&r, d, 100, 1, someSets(&r, n, 1+r.Below(7), 3))
		s, err := newSolver(d, measurements, Options{Total: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range s.model.factors {
			for i := range f.potential {
				f.potential[i] = 3 * normal(&r)
				if r.Below(12) == 0 && i > 0 {
					f.potential[i] = -600
				}
			}
			f.changed = true
		}
		s.evaluate()
		want := s.model.dense()
		for _, c := range s.model.tree.cliques {
			if off := furthest(t, c.marginal, want.marginal(c.members...)); off > 1e-9 {
				t.Fatalf("%v: the marginal of %v is off by %v", d.sizes, c.members, off)
			}
		}
		for _, f := range s.model.factors {
			if off := furthest(t, f.marginal, want.marginal(f.members...)); off > 1e-9 {
				t.Fatalf("%v: the factor of %v is off by %v", d.sizes, f.members, off)
			}
		}
	}
}

// The cliques of a junction tree with an attribute are connected, each set is in a clique, and no clique is in another.
func checkTree(t *testing.T, d *Domain, within []set) {
	t.Helper()
	tree := newTree(d, triangulate(d, within))
	for _, s := range within {
		if tree.home(s) < 0 {
			t.Fatalf("%v: no clique has %v", d.sizes, s.members())
		}
	}
	for a := range d.sizes {
		tops := 0 // cliques with the attribute whose parent lacks it
		for _, c := range tree.cliques {
			if c.set.has(a) && !c.separator.has(a) {
				tops++
			}
		}
		if tops != 1 {
			t.Fatalf("%v: the cliques with attribute %d have %d tops", d.sizes, a, tops)
		}
	}
	for i, c := range tree.cliques {
		if c.parent >= i || (c.parent < 0) != (i == 0) {
			t.Fatalf("the parent of clique %d is %d", i, c.parent)
		}
		if got := slices.Sorted(slices.Values(c.members)); !slices.Equal(got, c.set.members()) {
			t.Fatalf("the clique of %v has the layout %v", c.set.members(), c.members)
		}
		if i > 0 && c.separator != c.set.and(tree.cliques[c.parent].set) {
			t.Fatalf("the separator of %v is %v", c.members, c.separator.members())
		}
		for k, other := range tree.cliques {
			if k != i && c.set.in(other.set) {
				t.Fatalf("the clique %v is within %v", c.members, other.members)
			}
		}
	}
}

func TestRunningIntersection(t *testing.T) {
	r := splitmix.At(2)
	for range 300 {
		n := 1 + r.Below(25)
		sizes := make([]int, n)
		for i := range sizes {
			sizes[i] = 1 + r.Below(9)
		}
		d, err := NewDomain(sizes...)
		if err != nil {
			t.Fatal(err)
		}
		within, err := readAll(d, someSets(&r, n, r.Below(2*n), 1+r.Below(4)))
		if err != nil {
			t.Fatal(err)
		}
		checkTree(t, d, within)
	}
}

func FuzzRunningIntersection(f *testing.F) {
	f.Add([]byte{3, 2, 2, 2, 0b11, 0b110, 0b101})
	f.Add([]byte{5, 1, 2, 3, 4, 5, 0b11, 0b110, 0b1100, 0b11000, 0b10001})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 1 || int(data[0])%8+1 > len(data)-1 {
			return
		}
		n := int(data[0])%8 + 1
		sizes := make([]int, n)
		for i := range sizes {
			sizes[i] = int(data[1+i]) + 1
		}
		d, err := NewDomain(sizes...)
		if err != nil {
			t.Fatal(err)
		}
		var within []set
		for _, b := range data[1+n : min(len(data), 1+n+40)] {
			var s set
			for a := range n {
				if b>>a&1 == 1 {
					s.add(a)
				}
			}
			within = append(within, s)
		}
		checkTree(t, d, within)
	})
}

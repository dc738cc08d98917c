package quantile

import (
	"slices"

	"dither/internal/entropy"
)

// jointWeights holds the sums of weights from which sequences are drawn, from their last position to the first
// [Gillenwater, Joseph & Kulesza 2021].
//
// c, g_j and n are those of [Joint], and k is the number of ranks. A sequence consists of runs: γ places in one
// cell, then places in a later cell. Let K(i′, i, j) = exp(−c·|mass from i′ to i − g_j·n|) be the factor of a step
// from cell i′ to cell i ≥ i′ at position j. Within a cell the factor is rep_j = exp(−c·g_j·n). With W_i the weight
// of cell i, let
//
//	In_j(i) = Σ_{i′<i} A_{j−1}(i′)·K(i′, i, j),   In_1(i) = K(0, i, 1),
//	A_j(i)  = Σ_{γ=1…j} In_{j−γ+1}(i)·W_i^γ/γ!·rep_{j−γ+2}·…·rep_j.
//
// In_j(i) is the total weight of all beginnings that enter cell i at position j. A_j(i) is the total weight of all
// beginnings that end a run in cell i at position j.
//
// Time: In_j takes O(1) for each cell. With b = exp(−rate), masses x and x′ of the cells i and i′, and the target
// t, K is b^x·b^(−x′)·b^(−t) if x − x′ ≥ t, and b^t·b^x′·b^(−x) otherwise. The cells i′ of the first case form a
// prefix, and the others a window. Both ends of either only increase with i. The code never subtracts from a sum.
// The sum of a window is the sum of a suffix, computed when the window began, plus the terms added since.
//
// Rounding: b^x is off by 2 roundings, and W by 2. In_j(i) has the roundings of A, 3 for a summand, at most K + 1
// for the sums, and 7 for the factors. A_j(i) has the roundings of In and 8 for each of at most k factors: 2
// products, a sum, W, and rep over γ. So the last A is off by at most D = k(K + 8k + 20). A term of a draw has 8k +
// 20 more: a step, and the factors of its run. In this paragraph K is the number of cells.
type jointWeights struct {
	*joint
	cells []cell
	rows  int64
	in    [][]scaled // in[j−1][i] is In_j(i)
	mass  []int64    // the mass before each cell, then 0, then the total mass, in units of scores: 1/(2R·den) of a row
	pow   []scaled   // b to the power of each entry of mass
	rep   []scaled   // rep[j−1] is rep_j
	part  [][]scaled // part[j−1][γ] is rep_j/γ
}

func newJointWeights(j *joint, cells []cell, rows int64) *jointWeights {
	w := &jointWeights{joint: j, cells: cells, rows: rows}
	for _, c := range append(slices.Clone(cells), cell{}, cell{before: 2 * j.levels * rows}) {
		w.mass = append(w.mass, c.before*j.den) // below 2⁶²: rows ≤ 2⁴⁰, R ≤ 100, den ≤ 10,000
		w.pow = append(w.pow, j.powers.at(c.before*j.den))
	}
	k := len(j.at)
	for l := range k + 1 {
		w.rep = append(w.rep, j.powers.at(w.target(l+1)))
		var part []scaled
		for run := range k + 1 {
			part = append(part, w.rep[l].over(scaledOf(float64(max(run, 1)))))
		}
		w.part = append(w.part, part)
	}
	first := make([]scaled, len(cells))
	for i := range cells {
		first[i] = w.step(len(cells), i, 1)
	}
	w.in = append(w.in, first)
	for position := 2; position <= k; position++ {
		w.in = append(w.in, w.enter(position))
	}
	return w
}

// target returns g_j·n, the sought mass of the step at position j, in units of scores: see [jointWeights].
func (w *jointWeights) target(position int) int64 {
	return 2 * w.levels * w.rows * w.gap(position-1)
}

// far reports whether the mass between two cells is at least the target of the position.
func (w *jointWeights) far(from, to, position int) bool {
	return w.mass[to]-w.mass[from] >= w.target(position)
}

// ended returns A_j(i) for position j: see [jointWeights]. It uses Horner's rule from the longest run: W·(In_j +
// W·rep_j/2·(In_{j−1} + W·rep_{j−1}/3·(…))).
func (w *jointWeights) ended(position, i int) scaled {
	sum, weight := w.in[0][i], w.cells[i].weight
	for run := position - 1; run >= 1; run-- {
		j := position - run // a run of length run starts after j positions
		sum = sum.times(weight.times(w.part[j][run+1])).plus(w.in[j][i])
	}
	return sum.times(weight)
}

// enter returns In_j of all cells, for a position j ≥ 2: see [jointWeights].
func (w *jointWeights) enter(position int) []scaled {
	n := len(w.cells)
	out := make([]scaled, n)
	up := make([]scaled, n)     // A·b^(−x), summed in the prefix
	down := make([]scaled, n)   // A·b^x, summed in the window
	suffix := make([]scaled, n) // suffix[l] is the sum of the entries of down at the indices in [l, begun)
	rep := w.rep[position-1]
	var prefix, since scaled
	near, begun := 0, 0 // The window is the indices in [near, i). The number since is the sum of down over [begun, i).
	for i := range n {
		for ; near < i && w.far(near, i, position); near++ {
			prefix = prefix.plus(up[near])
		}
		if near >= begun {
			begun, since = i, scaled{}
			for l := i - 1; l >= near; l-- {
				suffix[l] = down[l]
				if l < i-1 {
					suffix[l] = down[l].plus(suffix[l+1])
				}
			}
		}
		window := since
		if near < begun {
			window = window.plus(suffix[near])
		}
		out[i] = prefix.times(w.pow[i]).over(rep).plus(window.times(rep).over(w.pow[i]))
		a := w.ended(position-1, i)
		up[i], down[i] = a.over(w.pow[i]), a.times(w.pow[i])
		since = since.plus(down[i])
	}
	return out
}

// step returns K(i′, i, j), the factor of a step between cells i′ < i at position j: see [jointWeights]. The cell
// number len(cells) stands for the beginning of the sequence, and len(cells)+1 for its end.
func (w *jointWeights) step(from, to, position int) scaled {
	if w.far(from, to, position) {
		return w.pow[to].over(w.pow[from]).over(w.rep[position-1])
	}
	return w.pow[from].over(w.pow[to]).times(w.rep[position-1])
}

// values draws a sequence and returns its integers, in increasing order.
func (w *jointWeights) values(src *entropy.Source) []int64 {
	var out []int64
	for _, i := range w.draw(src) {
		c := w.cells[i]
		out = append(out, c.low+int64(src.Below64(uint64(c.high-c.low)+1)))
	}
	slices.Sort(out) // the integers of one bin are unordered
	return out
}

// draw returns the cell of each position. It draws the last cell, then the length of its run, then the cell before
// the run, and so on.
func (w *jointWeights) draw(src *entropy.Source) []int {
	k := len(w.at)
	out := make([]int, k)
	last := lottery{src: src}
	for i := range w.cells {
		last.offer(i, w.ended(k, i).times(w.step(i, len(w.cells)+1, k+1)))
	}
	for position, i := k, last.chosen; ; {
		length := lottery{src: src}
		weight := scaledOf(1)
		for run := 1; run <= position; run++ {
			weight = weight.times(w.cells[i].weight).over(scaledOf(float64(run)))
			length.offer(run, w.in[position-run][i].times(weight))
			weight = weight.times(w.rep[position-run])
		}
		for range length.chosen {
			position--
			out[position] = i
		}
		if position == 0 {
			return out
		}
		before := lottery{src: src}
		for from := range i {
			before.offer(from, w.ended(position, from).times(w.step(from, i, position+1)))
		}
		i = before.chosen
	}
}

package quantile

import (
	"slices"

	"dither/internal/entropy"
)

// jointWeights are the sums of weights from which sequences are drawn, from their last position to the first
// [Gillenwater, Joseph & Kulesza 2021].
//
// A sequence is made of runs: γ places in one cell, then places in a later one. Let K(i′, i, j) = exp(−c·|mass
// from i′ to i − g_j·n|) be the factor of the step from cell i′ to i ≥ i′ at position j; within a cell it is
// rep_j = exp(−c·g_j·n). With W_i the weight of a cell,
//
//	In_j(i) = Σ_{i′<i} A_{j−1}(i′)·K(i′, i, j),   In_1(i) = K(0, i, 1),
//	A_j(i)  = Σ_{γ=1…j} In_{j−γ+1}(i)·W_i^γ/γ!·rep_{j−γ+2}·…·rep_j
//
// are the weights of all beginnings that enter cell i at position j, and of all that end a run there. In_j takes O(1)
// for each cell: K is b^x·b^(−x′)·b^(−t) where x − x′ ≥ t, and b^t·b^x′·b^(−x) elsewhere, with b =
// exp(−rate); the first i′ form a prefix, the others a window, and both ends of either only rise with i. No sum is
// ever subtracted from: a window's sum is that of a suffix, computed when the window began, and of what was added
// since.
//
// Roundings: b^x is off by 2, and W by 2. In_j(i) has those of A, then 3 for a summand, at most K + 1 for the sums, and
// 7; A_j(i) has those of In, and for each of at most k factors 2 products, a sum, W, and rep over γ: 8. So the last A
// is off by at most D = k(K + 8k + 20). A term of a draw has 8k + 20 more: a step, and the factors of its run.
type jointWeights struct {
	*joint
	cells []cell
	rows  int64
	in    [][]scaled // in[j−1][i] is In_j(i)
	mass  []int64    // what is before each cell, then 0, then all, in units of scores: 1/(2R·den) of a row
	pow   []scaled   // b to the power of each of these
	rep   []scaled   // rep[j−1] is rep_j
	part  [][]scaled // part[j−1][γ] is rep_j/γ
}

func newJointWeights(j *joint, cells []cell, rows int64) *jointWeights {
	w := &jointWeights{joint: j, cells: cells, rows: rows}
	for _, c := range append(slices.Clone(cells), cell{}, cell{before: 2 * j.levels * rows}) {
		w.mass = append(w.mass, c.before*j.den) // below 2⁶²: rows are at most 2⁴⁰, R 100, and den 10,000
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

// target is g_j·n, in the same units.
func (w *jointWeights) target(position int) int64 {
	return 2 * w.levels * w.rows * w.gap(position-1)
}

// far says whether x − x′ ≥ t, from cell i′ to i.
func (w *jointWeights) far(from, to, position int) bool {
	return w.mass[to]-w.mass[from] >= w.target(position)
}

// ended is A_j(i), by Horner's rule from the longest run: W·(In_j + W·rep_j/2·(In_{j−1} +
// W·rep_{j−1}/3·(…))).
func (w *jointWeights) ended(position, i int) scaled {
	sum, weight := w.in[0][i], w.cells[i].weight
	for run := position - 1; run >= 1; run-- {
		j := position - run // entering after j positions, by a run of run
		sum = sum.times(weight.times(w.part[j][run+1])).plus(w.in[j][i])
	}
	return sum.times(weight)
}

// enter is In_j of all cells, j ≥ 2.
func (w *jointWeights) enter(position int) []scaled {
	n := len(w.cells)
	out := make([]scaled, n)
	up := make([]scaled, n)     // A·b^(−x), of the prefix
	down := make([]scaled, n)   // A·b^x, of the window
	suffix := make([]scaled, n) // the sum of down from here to begun
	rep := w.rep[position-1]
	var prefix, since scaled
	near, begun := 0, 0 // the window is near … i−1, of which those from begun on are in since
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

// step is K(i′, i, j), from cell i′ < i; the cell after all others stands for the beginning, and the next for the
// end.
func (w *jointWeights) step(from, to, position int) scaled {
	if w.far(from, to, position) {
		return w.pow[to].over(w.pow[from]).over(w.rep[position-1])
	}
	return w.pow[from].over(w.pow[to]).times(w.rep[position-1])
}

// values are a draw's integers.
func (w *jointWeights) values(src *entropy.Source) []int64 {
	var out []int64
	for _, i := range w.draw(src) {
		c := w.cells[i]
		out = append(out, c.low+int64(src.Below64(uint64(c.high-c.low)+1)))
	}
	slices.Sort(out) // those of one bin
	return out
}

// draw is the cell of each position: the last cell, then how long its run is, then the cell before that.
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

// Package layout loops over tables of counts by several attributes. A table is a slice of floats with one number for
// each cell. The last of its attributes changes fastest.
package layout

// Walk is the order in which a loop over the cells of a table visits the cells of a table with fewer attributes. The
// larger table is cut into runs of equal length. In each run the place in the smaller table grows by a fixed step.
type Walk struct {
	run    int     // the cells of a run
	step   int     // 0, or the distance in the smaller table of neighbours in a run
	starts []int32 // by run: its first place in the smaller table
}

// New returns the walk from a table over the attributes of members to a table over those of target, which members must
// have too, in any order. The sizes are by attribute. The larger table has less than 2³¹ cells.
func New(sizes, members, target []int) Walk {
	steps, step := map[int]int{}, 1
	for i := len(target) - 1; i >= 0; i-- {
		steps[target[i]] = step
		step *= sizes[target[i]]
	}
	// Neighbouring attributes are one loop if their steps continue each other. Attributes of one value are no loop.
	var loops, jumps []int
	for _, m := range members {
		n := sizes[m]
		last := len(loops) - 1
		switch {
		case n == 1:
		case last >= 0 && jumps[last] == steps[m]*n:
			loops[last] *= n
			jumps[last] = steps[m]
		default:
			loops, jumps = append(loops, n), append(jumps, steps[m])
		}
	}
	w := Walk{run: 1, step: 0}
	if last := len(loops) - 1; last >= 0 {
		w.run, w.step = loops[last], jumps[last]
		loops, jumps = loops[:last], jumps[:last]
	}
	runs := 1
	for _, n := range loops {
		runs *= n
	}
	w.starts = make([]int32, runs)
	at, place := make([]int, len(loops)), 0
	for r := range w.starts {
		w.starts[r] = int32(place)
		for i := len(at) - 1; i >= 0; i-- {
			at[i]++
			place += jumps[i]
			if at[i] < loops[i] {
				break
			}
			place -= jumps[i] * loops[i]
			at[i] = 0
		}
	}
	return w
}

// Add adds the smaller table to the larger one, at each cell.
func (w *Walk) Add(large, small []float64) {
	n := w.run
	switch w.step {
	case 0:
		for r, start := range w.starts {
			v := small[start]
			run := large[r*n : r*n+n]
			for i := range run {
				run[i] += v
			}
		}
	case 1:
		for r, start := range w.starts {
			run, from := large[r*n:r*n+n], small[start:int(start)+n]
			for i, v := range from {
				run[i] += v
			}
		}
	default:
		for r, start := range w.starts {
			place := int(start)
			run := large[r*n : r*n+n]
			for i := range run {
				run[i] += small[place]
				place += w.step
			}
		}
	}
}

// Sum sets the smaller table to the sums of the larger one's cells.
func (w *Walk) Sum(small, large []float64) {
	clear(small)
	n := w.run
	switch w.step {
	case 0:
		for r, start := range w.starts {
			v := 0.0
			for _, x := range large[r*n : r*n+n] {
				v += x
			}
			small[start] += v
		}
	case 1:
		for r, start := range w.starts {
			run, to := large[r*n:r*n+n], small[start:int(start)+n]
			for i, x := range run {
				to[i] += x
			}
		}
	default:
		for r, start := range w.starts {
			place := int(start)
			for _, x := range large[r*n : r*n+n] {
				small[place] += x
				place += w.step
			}
		}
	}
}

// Multiply multiplies the larger table by the smaller one, at each cell.
func (w *Walk) Multiply(large, small []float64) {
	for r, start := range w.starts {
		place := int(start)
		run := large[r*w.run:][:w.run]
		for i := range run {
			run[i] *= small[place]
			place += w.step
		}
	}
}

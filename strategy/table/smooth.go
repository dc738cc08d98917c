package table

// number is a type in which variances are computed: complex numbers for derivatives by a complex step.
type number interface{ float64 | complex128 }

// evidence states what is measured of one component, by level: the information matrix of the coordinates at each node,
// and the coordinates that the level and finer ones determine. A level determines those of all finer levels.
type evidence[F number] struct {
	dim   int
	info  [][]F
	known [][]bool
}

// add adds a measurement of some coordinates with the information x·gram.
func (e *evidence[F]) add(level int, x F, gram []float64, depends []bool) {
	for i, g := range gram {
		e.info[level][i] += x * times[F](g)
	}
	for l := level; l < len(e.known); l++ {
		for i, d := range depends {
			e.known[l][i] = e.known[l][i] || d
		}
	}
}

func newEvidence[F number](dim, levels int) *evidence[F] {
	e := &evidence[F]{dim: dim}
	for range levels {
		e.info, e.known = append(e.info, make([]F, dim*dim)), append(e.known, make([]bool, dim))
	}
	return e
}

// lowest returns the finest level that determines something. Each table depends on the first coordinate.
func (e *evidence[F]) lowest() int {
	for l, known := range e.known {
		if known[0] {
			return l
		}
	}
	return len(e.known)
}

// covers reports whether all of some coordinates are determined at a level.
func (e *evidence[F]) covers(level int, depends []bool) bool {
	for i, d := range depends {
		if d && !e.known[level][i] {
			return false
		}
	}
	return true
}

// smoothed holds the covariances of the least-squares estimates of the coordinates in a tree, by node. Rows and columns of
// coordinates that are not determined, or that are constants, are 0.
type smoothed[F number] struct {
	up    []F    // of the estimate from the node's subtree alone
	sum   []F    // of the sum of the children's estimates
	back  []F    // the inverse of sum
	full  []F    // of the estimate from all measurements
	first []F    // the first column of the information from the node's subtree
	exact []bool // the first coordinate is a constant: declared, or the sum of constants
}

// of returns the matrix of a node.
func of[F number](x []F, node, dim int) []F { return x[node*dim*dim : (node+1)*dim*dim] }

// smooth computes the covariances of the least-squares estimates of all nodes' true numbers. Levels below the finest measured
// one are left out.
//
// The estimate from a node's subtree averages the node's own measurement and the sum of its children's estimates,
// weighted by their information. A child's final estimate then adds to its own the part up·sum⁻¹ of what its parent's
// final estimate exceeds the sum of the children by. These two passes are the Kalman filter and the smoother of Rauch,
// Tung & Striebel (1965) on a tree, so the result is the least-squares estimate. Hay, Rastogi, Miklau & Suciu (2010,
// §4.2) have the case of equal variances and equal numbers of children. A constant first coordinate drops out of the
// information, because the inverse of the other coordinates' block is their covariance given the constant.
func smooth[F number](t *tree, e *evidence[F]) *smoothed[F] {
	n, d, lowest := len(t.level), e.dim, e.lowest()
	matrices := func() []F { return make([]F, n*d*d) }
	s := &smoothed[F]{matrices(), matrices(), matrices(), matrices(), make([]F, n*d), make([]bool, n)}
	open := make([]bool, n) // some child's first coordinate is not a constant
	info, mask := make([]F, d*d), make([]bool, d)
	for i := n - 1; i >= 0; i-- {
		l := t.level[i]
		if l < lowest {
			continue
		}
		copy(info, e.info[l])
		if l > lowest {
			copy(mask, e.known[l-1])
			mask[0] = mask[0] && open[i]
			back := of(s.back, i, d)
			invert(back, of(s.sum, i, d), mask)
			for j, x := range back {
				info[j] += x
			}
		}
		s.exact[i] = t.fixed[i] || l > lowest && !open[i]
		copy(mask, e.known[l])
		mask[0] = mask[0] && !s.exact[i]
		up := of(s.up, i, d)
		invert(up, info, mask)
		for j := range d {
			s.first[i*d+j] = info[j*d]
		}
		if p := t.parent[i]; p >= 0 {
			open[p] = open[p] || !s.exact[i]
			for j, x := range of(s.sum, p, d) {
				of(s.sum, p, d)[j] = x + times[F](t.times[i])*up[j]
			}
		}
	}
	copy(s.full, s.up)
	gain, excess, half := make([]F, d*d), make([]F, d*d), make([]F, d*d)
	for i, p := range t.parent {
		if p < 0 || t.level[i] < lowest {
			continue
		}
		multiply(gain, of(s.up, i, d), of(s.back, p, d), d)
		for j, x := range of(s.full, p, d) {
			excess[j] = x - of(s.sum, p, d)[j]
		}
		multiply(half, gain, excess, d)
		full := of(s.full, i, d)
		for a := range d {
			for b := range d {
				for k := range d {
					full[a*d+b] += half[a*d+k] * gain[b*d+k]
				}
			}
		}
	}
	return s
}

// multiply sets out to the product of two square matrices.
func multiply[F number](out, a, b []F, d int) {
	clear(out)
	for i := range d {
		for k := range d {
			if f := a[i*d+k]; f != 0 {
				for j := range d {
					out[i*d+j] += f * b[k*d+j]
				}
			}
		}
	}
}

// invert sets out to the inverse of the rows and columns of a symmetric matrix in the mask, and to 0 elsewhere. The real part
// of the matrix is positive definite there, so that elimination needs no pivots.
func invert[F number](out, m []F, mask []bool) {
	clear(out)
	d := len(mask)
	var at []int
	for i, in := range mask {
		if in {
			at = append(at, i)
		}
	}
	n := len(at)
	if n == 1 {
		out[at[0]*d+at[0]] = 1 / m[at[0]*d+at[0]]
		return
	}
	x := make([]F, n*n) // becomes the inverse in place (Gauss & Jordan)
	for i, a := range at {
		for j, b := range at {
			x[i*n+j] = m[a*d+b]
		}
	}
	for k := range n {
		pivot := 1 / x[k*n+k]
		x[k*n+k] = 1
		for j := range n {
			x[k*n+j] *= pivot
		}
		for i := range n {
			f := x[i*n+k]
			if i == k || f == 0 {
				continue
			}
			x[i*n+k] = 0
			for j := range n {
				x[i*n+j] -= f * x[k*n+j]
			}
		}
	}
	for i, a := range at {
		for j, b := range at {
			out[a*d+b] = x[i*n+j]
		}
	}
}

// times converts a float to the type F.
func times[F number](x float64) F {
	var out F
	switch p := any(&out).(type) {
	case *float64:
		*p = x
	case *complex128:
		*p = complex(x, 0)
	}
	return out
}

package marginal

import "math/bits"

// MaxAttributes is the largest number of attributes of a domain.
const MaxAttributes = 256

// subset is a set of attributes, by their positions in the domain. It is a key of maps.
type subset [MaxAttributes / 64]uint64

// of returns the subset that has these positions.
func of(members ...int) (s subset) {
	for _, m := range members {
		s[m/64] |= 1 << (m % 64)
	}
	return s
}

// has reports whether s has a position.
func (s subset) has(m int) bool { return s[m/64]>>(m%64)&1 == 1 }

// members returns the positions in s, ascending.
func (s subset) members() []int {
	var out []int
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			out = append(out, 64*i+bits.TrailingZeros64(word))
		}
	}
	return out
}

// subsets calls f for every subset of these positions, from the empty one to all of them.
func subsets(members []int, f func(subset)) {
	for mask := range uint64(1) << len(members) {
		var s subset
		for rest := mask; rest != 0; rest &= rest - 1 {
			m := members[bits.TrailingZeros64(rest)]
			s[m/64] |= 1 << (m % 64)
		}
		f(s)
	}
}

// combinations calls f for every choice of k of these positions, ascending. f must not keep its argument.
func combinations(members []int, k int, f func([]int)) {
	chosen := make([]int, 0, k)
	var choose func(from int)
	choose = func(from int) {
		if len(chosen) == k {
			f(chosen)
			return
		}
		for i := from; i <= len(members)-(k-len(chosen)); i++ {
			chosen = append(chosen, members[i])
			choose(i + 1)
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(0)
}

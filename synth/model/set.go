package model

import "math/bits"

// set is a set of attributes.
type set [MaxAttributes / 64]uint64

func (s *set) add(m int)    { s[m/64] |= 1 << (m % 64) }
func (s *set) remove(m int) { s[m/64] &^= 1 << (m % 64) }

// has reports whether m is in s.
func (s set) has(m int) bool { return s[m/64]>>(m%64)&1 == 1 }

// in reports whether s is a subset of t.
func (s set) in(t set) bool {
	for i := range s {
		if s[i]&^t[i] != 0 {
			return false
		}
	}
	return true
}

// and returns the intersection.
func (s set) and(t set) set {
	for i := range s {
		s[i] &= t[i]
	}
	return s
}

// or returns the union.
func (s set) or(t set) set {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

// without returns the difference.
func (s set) without(t set) set {
	for i := range s {
		s[i] &^= t[i]
	}
	return s
}

// count returns the number of members.
func (s set) count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// next returns the first member from m on, or −1: for m := s.next(0); m >= 0; m = s.next(m + 1) visits all, ascending,
// without memory of its own.
func (s *set) next(m int) int {
	if m >= MaxAttributes {
		return -1
	}
	word := s[m/64] >> (m % 64) << (m % 64)
	for i := m / 64; ; word = s[i] {
		if word != 0 {
			return 64*i + bits.TrailingZeros64(word)
		}
		if i++; i == len(s) {
			return -1
		}
	}
}

// members returns the members, ascending.
func (s set) members() []int {
	out := make([]int, 0, s.count())
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			out = append(out, 64*i+bits.TrailingZeros64(word))
		}
	}
	return out
}

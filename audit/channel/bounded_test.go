package channel

import (
	"math/big"
	"testing"
)

// Where there is no room for exact sums δ is told by bounds, which hold the δ that there is with room; and the error
// of floats is within its bound.
func TestBounded(t *testing.T) {
	n := int64(40)
	var entries [][]*big.Rat
	for i := range n {
		var row []*big.Rat
		for j := range n {
			row = append(row, big.NewRat(1+(i*i*7+j*3+i*j)%11, 1))
		}
		sum := new(big.Rat)
		for _, x := range row {
			sum.Add(sum, x)
		}
		for _, x := range row {
			x.Quo(x, sum)
		}
		entries = append(entries, row)
	}
	m, err := Of(nil, nil, entries)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"0", "1/3", "1", "2", "ln 11"} {
		e, err := ParseExponent(text)
		if err != nil {
			t.Fatal(err)
		}
		full, err := m.Delta(AllPairs(), e)
		if err != nil {
			t.Fatal(err)
		}
		s := stick{m: m, work: question(), c: e.power(), looks: maxLooks}
		s.lower, s.upper = s.c.Floats()
		x, err := s.largest(AllPairs())
		if err != nil || x.Lower > full.Upper || x.Upper < full.Lower || x.Upper-x.Lower > 4*s.slack() {
			t.Errorf("at %s: δ in [%v, %v], %v; it is in [%v, %v]", text, x.Lower, x.Upper, err, full.Lower, full.Upper)
		}
		s.room = 1 << 20
		floats := m.floats()
		AllPairs().each(m, func(row, beside int) {
			r, err := s.reach(row, beside)
			if err == nil {
				rough := s.rough(floats[row*int(n):][:n], floats[beside*int(n):][:n])
				if rough < r.lower-s.slack() || rough > r.upper+s.slack() {
					t.Errorf("at %s: %v in floats is [%v, %v]", text, rough, r.lower, r.upper)
				}
			}
		})
	}
}

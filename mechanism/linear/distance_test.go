package linear

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/mechanism"
	"dither/mechanism/internal/opaque"
)

// A distance is that of its definition, in words and in integers of any size, and beyond a bound that does not hold.
func TestDistanceIsThatOfItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	wide := 0
	for range 2000 {
		d := Distance{Weight: 1 + r.Int64N(9), Scale: 1 + r.Int64N(9), Penalty: r.Int64N(99) - 50}
		if r.IntN(3) == 0 {
			d.Weight, d.Scale, d.Penalty = MaxWeight, MaxWeight-r.Int64N(5), -MaxTableEntry
		}
		var cells []mechanism.Exact
		want := new(big.Int)
		for range 1 + r.IntN(6) {
			x := big.NewInt(r.Int64N(101) - 50)
			if r.IntN(20) == 0 {
				x.Lsh(x, 80)
			}
			at := r.Int64N(201) - 100
			if r.IntN(20) == 0 {
				at = MaxTableEntry
			}
			d.Table, cells = append(d.Table, at), append(cells, opaque.NewExact(x))
			apart := new(big.Int).Mul(x, big.NewInt(d.Scale))
			want.Add(want, apart.Abs(apart.Sub(apart, big.NewInt(at))))
		}
		want.Mul(want, big.NewInt(d.Weight))
		want.Sub(want, big.NewInt(d.Penalty))
		for _, most := range []*big.Int{nil, big.NewInt(10), big.NewInt(50), new(big.Int).Lsh(big.NewInt(1), 90)} {
			if most != nil && !d.fits(most) {
				wide++
			}
			got, err := d.Of(cells, most)
			if err != nil || opaque.Open(got).Cmp(want) != 0 {
				t.Fatalf("%+v within %v: %v, %v, want %s", d, most, opaque.Open(got), err, want)
			}
		}
	}
	if wide < 100 {
		t.Errorf("%d scores need more than words: this shows little", wide)
	}
}

// The bound of fits is enough at its edge: a score of the largest magnitude that it admits does not overflow.
func TestDistanceAtTheEdgeOfWords(t *testing.T) {
	most := big.NewInt(1)
	for most.BitLen() < 62 {
		d := Distance{Weight: 3, Scale: 5, Penalty: MaxTableEntry, Table: []int64{-MaxTableEntry, MaxTableEntry}}
		for _, v := range []*big.Int{most, new(big.Int).Neg(most)} {
			x := []mechanism.Exact{opaque.NewExact(v), opaque.NewExact(v)}
			narrow, err := d.Of(x, most)
			wide, err2 := d.Of(x, nil)
			if err != nil || err2 != nil || opaque.Open(narrow).Cmp(opaque.Open(wide)) != 0 {
				t.Fatal(most, opaque.Open(narrow), opaque.Open(wide), err, err2)
			}
		}
		most = new(big.Int).Add(new(big.Int).Lsh(most, 1), big.NewInt(1))
	}
}

// Distances of another size, or with a field out of range, are refused, whatever the cells are.
func TestDistancesRefuse(t *testing.T) {
	good := Distance{Weight: 1, Scale: 1, Table: []int64{0, 0}}
	for name, change := range map[string]func(*Distance){
		"no weight":         func(d *Distance) { d.Weight = 0 },
		"a negative weight": func(d *Distance) { d.Weight = -1 },
		"a large weight":    func(d *Distance) { d.Weight = MaxWeight + 1 },
		"no scale":          func(d *Distance) { d.Scale = 0 },
		"a negative scale":  func(d *Distance) { d.Scale = -3 },
		"a large scale":     func(d *Distance) { d.Scale = MaxWeight + 1 },
		"a large penalty":   func(d *Distance) { d.Penalty = MaxTableEntry + 1 },
		"a low penalty":     func(d *Distance) { d.Penalty = -MaxTableEntry - 1 },
		"a large entry":     func(d *Distance) { d.Table = []int64{0, MaxTableEntry + 1} },
		"a low entry":       func(d *Distance) { d.Table = []int64{-MaxTableEntry - 1, 0} },
		"no table":          func(d *Distance) { d.Table = nil },
		"a long table":      func(d *Distance) { d.Table = make([]int64, 3) },
	} {
		d := good
		change(&d)
		if _, err := d.Of(make([]mechanism.Exact, 2), big.NewInt(5)); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := good.Of(make([]mechanism.Exact, 2), nil); err != nil {
		t.Error(err)
	}
}

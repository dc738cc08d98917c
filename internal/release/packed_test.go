package release

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPackedNumbersAreReadAgain packs numbers of all sizes, with the ends of words among them, and reads them again.
func TestPackedNumbersAreReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int{1, 7, 8, 9, 31, 62, 63, 64, 65, 200}).Draw(t, "bits")
		numbers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *big.Int {
			top := new(big.Int).Lsh(big.NewInt(1), uint(rapid.IntRange(0, most).Draw(t, "size")))
			n := top.Add(top, big.NewInt(rapid.Int64Range(-2, 1).Draw(t, "off")))
			if rapid.Bool().Draw(t, "negative") {
				n.Neg(n)
			}
			return n
		}), 1, 20).Draw(t, "numbers")
		text := packed(numbers)
		if !json.Valid(text) {
			t.Fatalf("%s is no JSON", text)
		}
		got, err := unpacked(text, len(numbers))
		if err != nil || !slices.EqualFunc(got, numbers, func(a, b *big.Int) bool { return a.Cmp(b) == 0 }) {
			t.Fatalf("%v were packed as %s and read as %v (%v)", numbers, text, got, err)
		}
	})
	ends := []*big.Int{big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)}
	if got, err := unpacked(packed(ends), 2); err != nil || got[0].Cmp(ends[0]) != 0 || got[1].Cmp(ends[1]) != 0 {
		t.Errorf("the ends of words were read as %v (%v)", got, err)
	}
}

// TestDamagedPackedNumbers checks that other texts are unreadable, and none makes the reader panic.
func TestDamagedPackedNumbers(t *testing.T) {
	good := string(packed([]*big.Int{big.NewInt(5), big.NewInt(-300)}))
	for _, text := range []string{
		"", `"`, `""`, `":"`, `"0:"`, `"2:"`, `"99999999999:AAAA"`, `"2:AAUBLAA"`, `"x:AAUBLA"`, `"-1:AAUBLA"`, good[:len(good)-3] + `"`,
		`"3:AAUBLA"`, `"1:AAUBLA"`, `"2:****"`,
	} {
		if got, err := unpacked([]byte(text), 2); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%s was read as %v (%v)", text, got, err)
		}
	}
}

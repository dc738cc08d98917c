package statistics

import (
	"math/big"
	"slices"
	"strconv"
	"testing"
)

// A part of integers is named by the first one and the last one in it, or by its only one. Reals have the ends of parts.
// WIDTH_BUCKET takes a part without its upper end, and the last part has the upper bound.
func TestNamesOfParts(t *testing.T) {
	for _, c := range []struct {
		low, high string
		parts     int
		whole     bool
		names     []string
	}{
		{"0", "100", 10, true, []string{"0–9", "10–19", "20–29", "30–39", "40–49", "50–59", "60–69", "70–79", "80–89", "90–100"}},
		{"0", "48", 4, true, []string{"0–11", "12–23", "24–35", "36–48"}},
		{"0", "48", 4, false, []string{"0–12", "12–24", "24–36", "36–48"}},
		{"1", "12", 4, true, []string{"1–3", "4–6", "7–9", "10–12"}},
		{"1", "12", 4, false, []string{"1–3.75", "3.75–6.5", "6.5–9.25", "9.25–12"}},
		{"0", "5", 5, true, []string{"0", "1", "2", "3", "4–5"}},
		{"0", "5", 6, true, []string{"0", "1", "2", "3", "4", "5"}},
		{"0", "4", 3, true, []string{"0–1", "2", "3–4"}},
		{"-10", "10", 4, true, []string{"-10–-6", "-5–-1", "0–4", "5–10"}},
		{"-10", "-3", 3, true, []string{"-10–-8", "-7–-6", "-5–-3"}},
		{"0", "3", 4, true, []string{"0", "1", "2", "3"}},
		{"0", "1", 4, true, []string{"0", "0.25–0.5", "0.5–0.75", "1"}}, // no integer is in the middle
		{"0", "100000000", 2, true, []string{"0–49999999", "50000000–100000000"}},
	} {
		low, _ := new(big.Rat).SetString(c.low)
		high, _ := new(big.Rat).SetString(c.high)
		step := new(big.Rat).Sub(high, low)
		k := orderedKey{
			low: low, high: high, step: step.Quo(step, big.NewRat(int64(c.parts), 1)), groups: c.parts, numeric: true, whole: c.whole,
		}
		var names []string
		for part := range c.parts {
			names = append(names, k.name(strconv.Itoa(part+1)))
		}
		if !slices.Equal(names, c.names) {
			t.Errorf("%s to %s, integers %t: %q, not %q", c.low, c.high, c.whole, names, c.names)
		}
	}
}

// Every integer within the bounds is within the ends of its part and of no other.
func TestPartsOfIntegers(t *testing.T) {
	for low := int64(-7); low <= 3; low++ {
		for width := int64(1); width <= 20; width++ {
			for parts := int64(2); parts <= 23; parts++ {
				k := orderedKey{
					low: big.NewRat(low, 1), high: big.NewRat(low+width, 1), step: big.NewRat(width, parts), groups: int(parts), whole: true,
				}
				for x := low; x <= low+width; x++ {
					bucket := min((x-low)*parts/width+1, parts)
					for part := int64(1); part <= parts; part++ {
						first, last := k.ends(part)
						value := big.NewRat(x, 1)
						within := first.IsInt() && first.Cmp(value) <= 0 && value.Cmp(last) <= 0 // a part without an integer starts at none
						if within != (part == bucket) {
							t.Fatalf("%d in %d parts of %d … %d: part %d has %v to %v", x, parts, low, low+width, part, first, last)
						}
					}
				}
			}
		}
	}
}

// Neighbouring parts together are named by their outer ends.
func TestSpanOfParts(t *testing.T) {
	parts, values := orderedKey{step: big.NewRat(1, 1)}, orderedKey{}
	for _, c := range []struct {
		of                orderedKey
		first, last, want string
	}{
		{parts, "0–9", "10–19", "0–19"},
		{parts, "0", "3", "0–3"},
		{parts, "2", "3–4", "2–4"},
		{parts, "0–1", "2", "0–2"},
		{parts, "-10–-6", "-5–-1", "-10–-1"},
		{parts, "2", "2", "2"},
		{parts, "3–4", "3–4", "3–4"},
		{values, "1", "3", "1–3"},
	} {
		if got := c.of.span(c.first, c.last); got != c.want {
			t.Errorf("%s and %s: %s, not %s", c.first, c.last, got, c.want)
		}
	}
}

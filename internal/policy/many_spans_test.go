package policy

import (
	"fmt"
	"slices"
	"testing"
)

// What spans writes stands for the same names, in as few texts as possible, and a long list takes few steps.
func TestSpansStandForTheirNames(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{[]string{"q1", "q2", "q3"}, []string{"q1..q3"}},
		{[]string{"q9", "q10", "r10", "r11"}, []string{"q9..q10", "r10..r11"}},
		{[]string{"q08", "q09", "q10", "q100"}, []string{"q08..q10", "q100"}},
		{[]string{"q99", "q100", "q0", "q1"}, []string{"q99..q100", "q0..q1"}},
		{[]string{"q098", "q099", "q100"}, []string{"q098..q100"}},
		{[]string{"q0999", "q1000", "q01000"}, []string{"q0999..q1000", "q01000"}},
		{[]string{"q2", "q1", "a", "b", "q1"}, []string{"q2", "q1", "a", "b", "q1"}},
		{[]string{"x..1", "x..2"}, []string{"x..1..x..2"}},
		{[]string{"a1b2", "a1b3"}, []string{"a1b2..a1b3"}},
	} {
		got := spans(c.names)
		var all []string
		for _, text := range got {
			names, wrong := span(text)
			if wrong != "" {
				t.Errorf("%s %s", text, wrong)
			}
			all = append(all, names...)
		}
		if !slices.Equal(all, c.names) || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, which stands for %v", c.names, got, all)
		}
	}
	var many []string
	for i := range 3 * maxColumns {
		many = append(many, fmt.Sprintf("q%d", i))
	}
	if allocated := testing.AllocsPerRun(1, func() { spans(many) }); allocated > float64(20*len(many)) {
		t.Errorf("%d names took %.0f allocations", len(many), allocated)
	}
}

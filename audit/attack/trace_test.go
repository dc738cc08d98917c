package attack

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A member of a small group stands out of its exact means; a stranger does not.
func TestTrace(t *testing.T) {
	s := newStream(1)
	p := make([]float64, 400)
	names := make([]string, len(p))
	for j := range p {
		p[j], names[j] = 0.1+0.8*s.unit(), fmt.Sprintf("a%d", j)
	}
	table := func(rows [][]bool) *Attributes {
		var b strings.Builder
		b.WriteString(strings.Join(names, ",") + "\n")
		for _, row := range rows {
			for j, has := range row {
				if j > 0 {
					b.WriteByte(',')
				}
				b.WriteByte(map[bool]byte{true: '1', false: '0'}[has])
			}
			b.WriteByte('\n')
		}
		a, err := ReadAttributes(strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	group, others := population(s, p, 20), population(s, p, 99)
	means := make([]float64, len(p))
	for _, row := range group {
		for j, has := range row {
			if has {
				means[j] += 1 / float64(len(group))
			}
		}
	}
	published := &Attributes{names, [][]float64{means}}
	got, err := Trace(published, table(group[:1]), table(others))
	if err != nil || got.PValue > 0.02 || got.Attributes != 400 || got.Reference != 99 {
		t.Errorf("a member: %+v (%v)", got, err)
	}
	got, err = Trace(published, table(population(s, p, 1)), table(others))
	if err != nil || got.PValue < 0.05 || got.PValue != float64(got.Higher+1)/100 {
		t.Errorf("a stranger: %+v (%v)", got, err)
	}
	for what, bad := range map[string][3]*Attributes{
		"at least 19":    {published, table(group[:1]), table(others[:18])},
		"one person":     {published, table(group[:2]), table(others)},
		"no attribute":   {&Attributes{[]string{"x"}, [][]float64{{1}}}, table(group[:1]), table(others)},
		"0 or 1, not 2":  {&Attributes{names[:1], [][]float64{{1}}}, {names[:1], [][]float64{{2}}}, table(others)},
		"line of means,": {{names, nil}, table(group[:1]), table(others)},
	} {
		if _, err := Trace(bad[0], bad[1], bad[2]); !errors.Is(err, ErrParameter) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for text, want := range map[string]string{"": "a line of names", "a,b\n": "a line of names", "a,a\n1,2": "a name of its own", "a,b\n1,x\n": "field 2", "a\nNaN\n": "no number"} {
		if _, err := ReadAttributes(strings.NewReader(text)); !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

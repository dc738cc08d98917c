package attack

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dither/internal/stattest"
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
		if _, err := Trace(bad[0], bad[1], bad[2]); !errors.Is(err, ErrParameter) ||
			!strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, missing := range [][3]*Attributes{{}, {published}, {published, published}} {
		if _, err := Trace(missing[0], missing[1], missing[2]); !errors.Is(err, ErrParameter) {
			t.Error(err)
		}
	}
	for text, want := range map[string]string{
		"": "a line of names", "a,b\n": "a line of names",
		"a,a\n1,2": "a unique name", "a,b\n1,x\n": "field 2", "a\nNaN\n": "not a number",
	} {
		if _, err := ReadAttributes(strings.NewReader(text)); !errors.Is(err, ErrTable) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// For somebody of whom the means know nothing every rank among 19 others is as probable as any, so that the p-value is
// at most k/20 with probability k/20. (Scores are rarely alike here; where they are, p-values are larger.)
func TestTraceNullLaw(t *testing.T) {
	const runs, attributes, others = 3000, 40, 19
	names := make([]string, attributes)
	for j := range names {
		names[j] = fmt.Sprint(j)
	}
	var ranks [others + 1]int
	for run := range uint64(runs) {
		s := newStream(11, run)
		p, means := make([]float64, attributes), make([]float64, attributes)
		for j := range p {
			p[j] = 0.1 + 0.8*s.unit()
		}
		for _, row := range population(s, p, 10) {
			for j, has := range row {
				if has {
					means[j] += 0.1
				}
			}
		}
		rows := make([][]float64, others+1)
		for i, row := range population(s, p, others+1) {
			rows[i] = make([]float64, attributes)
			for j, has := range row {
				if has {
					rows[i][j] = 1
				}
			}
		}
		got, err := Trace(&Attributes{names, [][]float64{means}}, &Attributes{names, rows[:1]},
			&Attributes{names, rows[1:]})
		if err != nil || got.PValue != float64(1+got.Higher)/(others+1) {
			t.Fatal(got, err)
		}
		ranks[got.Higher]++
	}
	atMost := 0
	for k, n := range ranks[:others] {
		atMost += n
		law := stattest.Binomial{Trials: runs, Probability: float64(k+1) / (others + 1)}
		if err := (stattest.Proportion{Successes: atMost, Of: law, FalseAlarm: 1e-7}).Check(); err != nil {
			t.Errorf("p ≤ %d/20: %v", k+1, err)
		}
	}
}

package cli

import (
	"fmt"
	"strings"

	"dither/audit/channel"
)

// printChannel says what was found of a mechanism, the verdict first.
func (s *session) printChannel(r judged, f channelFlags) {
	s.print("%s\n", printableLines(r.verdict()))
	if len(r.excess) > 0 {
		s.print("\n%s", printableLines(r.excessTable()))
	}
	if r.delta != nil {
		s.print("\n%s\n", printableLines(r.leastText()))
	}
	s.print("\n%s\n", printableLines(r.leakageText(f.prior != "")))
}

// verdict is the first thing that a person wants to know, and its evidence.
func (r judged) verdict() string {
	w := r.loss.Witness
	between := "any two inputs"
	if r.adjacency.Listed() {
		between = fmt.Sprintf("the %d adjacent pairs of inputs", r.adjacency.Len())
	}
	size := fmt.Sprintf("%d inputs, %d outputs", len(r.m.Inputs()), len(r.m.Outputs()))
	switch {
	case !r.loss.Private():
		return fmt.Sprintf("NOT differentially private: there is no ε (%s; between %s).\n\n"+
			"  Output %s is possible if the input is %s: %s.\n  It is impossible if the input is %s: whoever sees it knows that it was not.\n"+
			"  At every ε, however large, δ is at least %s.",
			size, between, w.Output, w.Input, probability(w.PValue, w.P), w.Neighbor, floor(r.limit))
	case w.Output == "":
		return fmt.Sprintf("ε = 0: no two inputs are adjacent, so there is nothing to hide (%s; between %s).", size, between)
	case r.loss.Upper == 0:
		return fmt.Sprintf("ε = 0, exactly: the output says nothing of the input (%s; between %s).\n\n"+
			"  Every output is as probable under one as under the other.", size, between)
	}
	value := above(r.loss.Upper)
	if r.loss.Exact != "" && r.loss.Exact != value {
		value = r.loss.Exact + " ≈ " + value
	}
	times := above(r.loss.Ratio.Upper)
	if r.loss.Upper > mostTimes {
		times = "e^" + above(r.loss.Upper)
	}
	return fmt.Sprintf("Differentially private with ε = %s, exactly, and with no smaller ε (%s; between %s).\n\n"+
		"  Output %s under input %s: %s\n  Output %s under input %s: %s\n"+
		"  Whatever somebody believed before, an output changes the odds between two adjacent inputs at most %s-fold.",
		value, size, between, w.Output, w.Input, probability(w.PValue, w.P), w.Output, w.Neighbor, probability(w.QValue, w.Q), times)
}

// floor is a δ, or a number with six digits that is not above it.
func floor(x channel.Excess) string {
	if x.Exact != "" && len(x.Exact) <= 8 {
		return x.Exact
	}
	return below(x.Lower)
}

// probability is a number with what it is exactly, where that says more.
func probability(value float64, exactly string) string {
	text := compact6(value)
	if exactly == text || len(exactly) > 60 {
		return "probability " + text
	}
	return fmt.Sprintf("probability %s = %s", exactly, text)
}

// compact6 writes six digits of a number.
func compact6(x float64) string { return shortPower(fmt.Sprintf("%.6g", x)) }

// excessTable is δ at each ε that was asked about.
func (r judged) excessTable() string {
	g := grid{right: []bool{true, true}}
	g.add("ε", "δ", "", "most between", "when the output is")
	for i, x := range r.excess {
		exactly := ""
		if x.Exact != "" && x.Exact != above(x.Upper) {
			exactly = "= " + x.Exact
		}
		pair, event := "", ""
		if x.Upper > 0 {
			pair, event = x.Input+" and "+x.Neighbor, r.event(x.Outputs)
		}
		g.add(r.at[i].String(), above(x.Upper), exactly, pair, event)
	}
	return g.text("  ")
}

// mostNamed is how many outputs of an event are named.
const mostNamed = 4

// event names outputs.
func (r judged) event(outputs []int) string {
	names := r.m.Outputs()
	var out []string
	for i, y := range outputs {
		if i == mostNamed {
			return fmt.Sprintf("%s … (%d outputs)", strings.Join(out, ", "), len(outputs))
		}
		out = append(out, names[y])
	}
	return strings.Join(out, ", ")
}

// leastText is the least ε at the δ that was asked about.
func (r judged) leastText() string {
	d := given(r.delta)
	if !r.relaxed.Private() {
		return fmt.Sprintf("At δ = %s there is no ε: see input %s beside %s, and output %s.", d, r.relaxed.Input, r.relaxed.Neighbor, r.event(r.relaxed.Outputs))
	}
	value := above(r.relaxed.Upper)
	if e := r.relaxed.Exact; e != "" && e != value {
		value = e + " ≈ " + value
	}
	text := fmt.Sprintf("At δ = %s the least ε is %s", d, value)
	if r.relaxed.Input != "" {
		text += fmt.Sprintf(", for input %s beside %s and output %s", r.relaxed.Input, r.relaxed.Neighbor, r.event(r.relaxed.Outputs))
	}
	return text + "."
}

// leakageText is what a guesser gains.
func (r judged) leakageText(prior bool) string {
	l := r.leakage
	of := "if all inputs are equally probable"
	if prior {
		of = "with the prior that was given"
	}
	return fmt.Sprintf("Guessing the input from the output, %s:\n"+
		"  right with probability %s, beside %s without it: %s times as often (at most %s times, whatever was known before)\n"+
		"  surest when the output is %s: then it is %s with probability %s, beside %s before",
		of, nearly(l.After), nearly(l.Before), nearly(l.Multiplicative), nearly(l.Capacity),
		l.Surest.Output, l.Surest.Input, nearly(l.Surest.After), nearly(l.Surest.Before))
}

// nearly is six digits of a number that is known better.
func nearly(b channel.Bounds) string { return compact6(b.Upper) }

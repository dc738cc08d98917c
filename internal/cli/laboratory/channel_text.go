package laboratory

import (
	"fmt"
	"strconv"
	"strings"

	"dither/audit/channel"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// printChannel prints the results about a mechanism, starting with the verdict.
func printChannel(s *console.Console, r judged, f channelFlags) {
	s.Print("%s\n", r.verdict())
	if len(r.excess) > 0 {
		s.Print("\n%s", r.excessTable())
	}
	if r.delta != nil {
		s.Print("\n%s\n", r.leastText())
	}
	s.Print("\n%s\n", r.leakageText(f.prior != ""))
}

// verdict states whether the mechanism is differentially private, with its ε and the evidence.
func (r judged) verdict() string {
	w := r.loss.Witness
	w.Input, w.Neighbor, w.Output = render.Printable(w.Input), render.Printable(w.Neighbor), render.Printable(w.Output)
	first, evidence := "", ""
	switch {
	case !r.loss.Private():
		first = "NOT differentially private: no ε holds."
		evidence = fmt.Sprintf(
			"  Output %s has probability %s if the input is %s, and is impossible if it is %s.\n"+
				"  At every ε, however large, δ is at least %s.", w.Output, probability(w.PValue, w.P), w.Input, w.Neighbor,
			floor(r.limit))
	case r.loss.Upper == 0:
		first, evidence = "Differentially private: ε = 0.",
			"  Every output has the same probability under adjacent inputs, so no output distinguishes them."
	default:
		factor := render.Above(r.loss.Ratio.Upper)
		if r.loss.Upper > mostTimes {
			factor = "e^" + render.Above(r.loss.Upper)
		}
		first = fmt.Sprintf("Differentially private: ε %s, and no smaller ε holds.",
			exponentWords(r.loss.Exact, r.loss.Upper))
		evidence = fmt.Sprintf("  Output %s has probability %s if the input is %s,\n  and %s if it is %s.\n"+
			"  Whatever an attacker believed before, an output changes the odds between two adjacent inputs by a factor of at most %s.",
			w.Output, probability(w.PValue, w.P), w.Input, probability(w.QValue, w.Q), w.Neighbor, factor)
	}
	return fmt.Sprintf("%s\nThis is exact, for this matrix of %s and %s; %s.\n\n%s",
		first, counted(len(r.m.Inputs()), "input"), counted(len(r.m.Outputs()), "output"), r.adjacent(), evidence)
}

// adjacent states which inputs are adjacent.
func (r judged) adjacent() string {
	if r.adjacency.Listed() {
		n, verb := r.adjacency.Len(), "are"
		if n == 1 {
			verb = "is"
		}
		return fmt.Sprintf("%s of inputs %s adjacent", counted(n, "pair"), verb)
	}
	return "all pairs of inputs are adjacent"
}

func counted(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// exponentWords writes an exact ε with its decimal, as "= ln 3 ≈ 1.09861", or only one of the two. The decimal is
// rounded to nearest; the JSON form has bounds.
func exponentWords(exactly string, upper float64) string {
	switch value := nearest6(upper); exactly {
	case "":
		return "≈ " + value
	case value:
		return "= " + value
	default:
		return "= " + exactly + " ≈ " + value
	}
}

func nearest6(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// floor writes a δ exactly if that is short, or otherwise rounded down to six digits.
func floor(x channel.Excess) string {
	if x.Exact != "" && len(x.Exact) <= 8 {
		return x.Exact
	}
	return render.Below(x.Lower)
}

// longest is the largest length of an exact probability that is printed.
const longest = 32

// probability writes a number, with its exact form if that is different and short. Below leastNormal, a float does
// not have six digits.
func probability(value float64, exactly string) string {
	text := compact6(value)
	switch {
	case value < leastNormal && value > 0 && exactly != "" && len(exactly) <= longest:
		return exactly
	case value < leastNormal && value > 0:
		return "less than 2.3e-308"
	case exactly == text || exactly == "" || len(exactly) > longest:
		return text
	}
	return fmt.Sprintf("%s = %s", exactly, text)
}

// leastNormal is the smallest float with full precision.
const leastNormal = 0x1p-1022

func compact6(x float64) string { return render.ShortPower(fmt.Sprintf("%.6g", x)) }

// excessTable returns a table of δ at each requested ε.
func (r judged) excessTable() string {
	g := render.Grid{Right: []bool{true, true}}
	g.Add("ε", "δ", "", "largest between", "for outputs")
	for i, x := range r.excess {
		exactly := ""
		if x.Exact != "" && x.Exact != render.Above(x.Upper) {
			exactly = "= " + x.Exact
		}
		pair, event := "", ""
		if x.Upper > 0 {
			pair, event = x.Input+" and "+x.Neighbor, r.event(x.Outputs)
		}
		g.Add(r.at[i].String(), render.Above(x.Upper), exactly, pair, event)
	}
	return g.Text("  ")
}

// mostNamed is the largest number of outputs of an event that are named.
const mostNamed = 4

// event writes the names of outputs, of which at most mostNamed are listed.
func (r judged) event(outputs []int) string {
	names := r.m.Outputs()
	var out []string
	for i, y := range outputs {
		if i == mostNamed {
			return fmt.Sprintf("%s … (%d outputs)", strings.Join(out, ", "), len(outputs))
		}
		out = append(out, render.Printable(names[y]))
	}
	return strings.Join(out, ", ")
}

// leastText states the least ε at the requested δ.
func (r judged) leastText() string {
	d := render.Given(r.delta)
	if !r.relaxed.Private() {
		return fmt.Sprintf("At δ = %s no ε holds: compare inputs %s and %s, and output %s.",
			d, render.Printable(r.relaxed.Input), render.Printable(r.relaxed.Neighbor), r.event(r.relaxed.Outputs))
	}
	text := fmt.Sprintf("At δ = %s: ε %s, and no smaller ε holds", d, exponentWords(r.relaxed.Exact, r.relaxed.Upper))
	if r.relaxed.Input != "" {
		text += fmt.Sprintf(": compare inputs %s and %s, and output %s",
			render.Printable(r.relaxed.Input), render.Printable(r.relaxed.Neighbor), r.event(r.relaxed.Outputs))
	}
	return text + "."
}

// leakageText states how much better the input can be guessed from the output.
func (r judged) leakageText(prior bool) string {
	l := r.leakage
	of := "when all inputs are equally probable"
	if prior {
		of = "with the given prior"
	}
	return fmt.Sprintf("Guessing the input, %s:\n"+
		"  a guess is right with probability %s without the output, and %s with it: a factor of %s (at most %s for every prior)\n"+
		"  the surest guess is possible after output %s: the input is then %s with probability %s; before, it was %s",
		of, nearly(l.Before), nearly(l.After), nearly(l.Multiplicative), render.Above(l.Capacity.Upper),
		render.Printable(l.Surest.Output), render.Printable(l.Surest.Input), sure(l.Surest.After),
		nearly(l.Surest.Before))
}

// nearly writes six digits of a number that is known more precisely.
func nearly(b channel.Bounds) string {
	if b.Upper < leastNormal {
		return probability(b.Upper, b.Exact)
	}
	return compact6(b.Upper)
}

// sure writes a probability. It writes 1 only for exactly 1.
func sure(b channel.Bounds) string {
	if text := nearly(b); text != "1" || b.Lower == 1 {
		return text
	}
	return "almost 1"
}

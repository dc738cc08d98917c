package laboratory

import (
	"encoding/json"
	"fmt"
	"strings"

	"dither/audit"
	"dither/audit/ours"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/nearest"
)

// auditOurs audits one of dither's own mechanisms by name, or lists them all.
func auditOurs(s *console.Console, names []string, o audit.Options, picture string) error {
	switch len(names) {
	case 0:
		return listOurs(s, o, picture)
	case 1:
	default:
		return console.Usage(
			"audit takes one mechanism at a time; to audit a program, quote its command: " +
				"--command \"python3 count.py\"")
	}
	subject, ok := ours.Find(names[0])
	if !ok {
		known := oursNames()
		if meant := nearest.Name(names[0], known); meant != "" {
			return console.Usage("there is no mechanism %q to audit%s", names[0], console.DidYouMean(meant))
		}
		return console.Usage("there is no mechanism %q to audit; there are %s", names[0], strings.Join(known, ", "))
	}
	if err := subject.Err(); err != nil {
		return fmt.Errorf("the example of %s: %w", subject.Name, err)
	}
	checked := subject
	if o.Claim != nil {
		checked.Claim = *o.Claim
	}
	o.Claim = &checked.Claim
	law, err := lawOf(checked)
	if err != nil {
		return err
	}
	report, err := auditRuns(s, subject.Run(), o)
	if err != nil {
		return auditError(err)
	}
	if law.exact != nil && law.exact.Fails {
		s.Exit = console.ExitRefused
	}
	if s.Format == "json" {
		if report.Verdict == audit.Refuted {
			s.Exit = console.ExitRefused
		}
		if err := s.JSON(oursReport{subject, checked.Claim, law, report}); err != nil {
			return err
		}
		return drawAudit(report, picture)
	}
	s.Print("%s", render.PrintableLines(oursText(subject, checked.Claim, law)))
	return showAudit(s, subject.Name, report, picture)
}

func oursNames() (names []string) {
	for _, subject := range ours.All() {
		names = append(names, subject.Name)
	}
	return names
}

// oursLaw holds the exact results about a mechanism's distribution.
type oursLaw struct {
	exact         *ours.Exact // nil if the distribution is not available
	inputs, pairs int         // numbers of inputs and of neighbouring pairs; 0 if the result is a certified sum
	ideal, folded bool        // properties of the distribution, as in ours.Law
}

// lawOf computes the exact results about a mechanism, and compares them with its claim.
func lawOf(subject ours.Subject) (out oursLaw, err error) {
	x, ok, err := subject.Exact()
	if err != nil || !ok {
		return out, err
	}
	out.exact = x
	law, ok, err := subject.Law()
	if err == nil && ok {
		out.inputs, out.pairs, out.ideal, out.folded = len(law.Matrix.Inputs()), len(law.Neighbors),
			law.Ideal, law.Folded
	}
	return out, err
}

// claimText writes a claim in the notation of the help text.
func claimText(c audit.Claim) string {
	text := "ε = " + render.Given(c.Epsilon.Rat())
	if !c.Delta.IsZero() {
		text += ", δ = " + render.Given(c.Delta.Rat())
	}
	return text
}

// shortLaw writes the smallest loss that holds exactly, in a few words.
func shortLaw(c audit.Claim, l oursLaw) string {
	switch x := l.exact; {
	case x == nil:
		return "by runs alone"
	case l.folded && !c.Delta.IsZero():
		return "δ ≥ " + render.Below(x.DeltaLower)
	case x.Loss == nil || !c.Delta.IsZero():
		return "δ = " + render.Above(x.DeltaUpper)
	case !x.Loss.Private():
		return "no ε"
	default:
		text := render.Above(x.Loss.Upper)
		if x.Loss.Exact != "" && len(x.Loss.Exact) <= 8 {
			text = x.Loss.Exact
		}
		return "ε = " + text
	}
}

// listOurs lists dither's own mechanisms with their declared and exact losses.
func listOurs(s *console.Console, o audit.Options, picture string) error {
	if picture != "" || o.Claim != nil || o.Runs != 0 || o.Confidence != 0 {
		return console.Usage(
			"audit needs the name of a mechanism, or --command PROGRAM, --input FILE and --neighbour FILE")
	}
	g := render.Grid{}
	g.Add("mechanism", "declared", "exactly", "", "example")
	var all []json.Marshaler
	for _, subject := range ours.All() {
		law, err := lawOf(subject)
		if err != nil {
			return err
		}
		tight := ""
		if law.exact != nil && law.exact.Attained {
			tight = "no less"
		}
		g.Add(subject.Name, claimText(subject.Claim), shortLaw(subject.Claim, law), tight, subject.About)
		all = append(all, oursReport{subject, subject.Claim, law, nil})
	}
	if s.Format == "json" {
		return s.JSON(oursList(all))
	}
	s.Print(
		"dither's own mechanisms, each on a small example. \"declared\" is the loss that the mechanism promises for data of any size.\n" +
			"\"exactly\" is the least loss that holds for all neighbours of the example. Where the two are equal, no smaller loss could\n" +
			"be declared (\"no less\").\n\n",
	)
	s.Print("%s", g.Text("  "))
	s.Print(
		"\n`dither audit NAME` checks one of them, and runs it. To audit a program of your own: `dither help audit`.\n")
	return nil
}

// oursText returns the text above the results of the runs.
func oursText(subject ours.Subject, claim audit.Claim, l oursLaw) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s [%s].\n\n", subject.Name, subject.About, subject.Source)
	fmt.Fprintf(&b, "Declared  %s.\n", claimText(subject.Claim))
	if claim.Epsilon.Cmp(subject.Claim.Epsilon) != 0 || claim.Delta.Cmp(subject.Claim.Delta) != 0 {
		fmt.Fprintf(&b, "Claimed   %s (--epsilon, --delta).\n", claimText(claim))
	}
	x := l.exact
	if x == nil {
		b.WriteString(
			"Exactly   Not known: dither does not compute this mechanism's exact law. Runs can refute the claim, and cannot prove it.\n",
		)
		fmt.Fprintf(&b, "\nRuns of the mechanism itself, on %s and on %s:\n", subject.Sides[0], subject.Sides[1])
		return b.String()
	}
	smaller := claim.Epsilon.Cmp(subject.Claim.Epsilon) < 0 || claim.Delta.Cmp(subject.Claim.Delta) < 0
	over := "from certified sums over all neighbours of the example"
	if l.inputs > 0 {
		over = fmt.Sprintf("over all %s pairs of neighbours among %s inputs",
			render.Thousands(l.pairs), render.Thousands(l.inputs))
	}
	least := shortLaw(claim, l)
	pure := x.Loss != nil && claim.Delta.IsZero()
	if pure && x.Loss.Exact != "" && !strings.HasSuffix(least, x.Loss.Exact) {
		least = fmt.Sprintf("ε = %s ≈ %s", x.Loss.Exact, nearest6(x.Loss.Upper))
	}
	if !pure {
		least += " at ε = " + render.Given(claim.Epsilon.Rat())
	}
	fmt.Fprintf(&b, "Exactly   %s, %s", least, over)
	switch {
	case x.Fails:
		b.WriteString(". The claim is too small.\n")
	case !x.Holds:
		b.WriteString(". Whether the claim holds for the example is not known.\n")
	case smaller:
		b.WriteString(
			".\n          The claim holds for this example. For data of any size, only the declared loss is promised.\n",
		)
	case x.Attained:
		b.WriteString(". The claim holds for the example, and no smaller claim does.\n")
	default:
		b.WriteString(". The claim holds for the example, and so does a smaller one.\n")
	}
	if l.folded && pure && x.Loss.Witness.Output != "" && strings.Contains(x.Loss.Witness.Output, "ever more") {
		fmt.Fprintf(&b, "          The ratio approaches this as the gap grows: see outputs %q between %s and %s.\n",
			x.Loss.Witness.Output, x.Loss.Witness.Input, x.Loss.Witness.Neighbor)
	}
	if l.ideal {
		b.WriteString(
			"          (This is for ideal arithmetic. The mechanism adds a little more noise to cover its rounding errors.)\n",
		)
	}
	if pure && x.Loss.Witness.Output != "" && !strings.Contains(x.Loss.Witness.Output, "ever more") {
		w := x.Loss.Witness
		fmt.Fprintf(&b, "          Output %q has probability %s under %s, and %s under %s.\n", w.Output,
			render.Compact(w.PValue), w.Input, render.Compact(w.QValue), w.Neighbor)
	}
	fmt.Fprintf(&b, "\nRuns of the mechanism itself, on %s and on %s:\n", subject.Sides[0], subject.Sides[1])
	return b.String()
}

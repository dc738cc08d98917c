package cli

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"strings"

	"dither/account"
	"dither/audit"
	"dither/privacy"
)

// runInterpret says what a promise means to people. It reads no home: it spends nothing.
func runInterpret(s *session, args []string) error {
	s.formatFlag()
	epsilon := s.flags.String("epsilon", "", "")
	delta := s.flags.String("delta", "0", "")
	prior := s.flags.String("prior", "0.01", "")
	alpha := s.flags.String("alpha", "0.05", "")
	group := s.flags.String("group", "4", "")
	people := s.flags.String("n", "10000", "")
	example := s.flags.String("example", "", "")
	picture := s.flags.String("plot", "", "")
	specs, helped, err := s.parse(args)
	if err != nil || helped {
		return err
	}
	switch {
	case s.format == "csv":
		return usage("interpret --format is table, json or markdown")
	case *example != "":
		return s.interpretExample(*example, *epsilon, specs, *picture)
	case *picture != "":
		return usage("--plot goes with --example smoking")
	case (*epsilon == "") == (len(specs) == 0):
		return usage("interpret --epsilon E [--delta D], or a job as account takes it: interpret \"gaussian sigma=1\"; one of them")
	}
	var i interpreted
	var where audit.Scenario
	if where.Prior, err = numberFlag("prior", *prior); err != nil {
		return err
	}
	if where.Alpha, err = numberFlag("alpha", *alpha); err != nil {
		return err
	}
	if where.Group, err = manyFlag("group", *group); err != nil {
		return err
	}
	if where.People, err = manyFlag("n", *people); err != nil {
		return err
	}
	if i.delta, err = deltaFlag(*delta); err != nil {
		return err
	}
	if *epsilon != "" {
		e, err := anyEpsilon(*epsilon)
		if err != nil {
			return err
		}
		i.Meaning, err = audit.MeaningOf(account.Approximate{Epsilon: e, Delta: i.delta}, where)
		if err != nil {
			return usage("%s", plainly(err))
		}
		return s.showInterpreted(i)
	}
	if _, err := jobOf(specs); err != nil { // which says best what is wrong with a spec
		return err
	}
	i.job = true
	if i.Meaning, err = audit.MeaningOfJob(specs, i.delta, where); err != nil {
		return usage("%s", plainly(err))
	}
	return s.showInterpreted(i)
}

// anyEpsilon reads an ε of any size: what 0 and what a far too large one mean is a question too.
func anyEpsilon(text string) (privacy.Epsilon, error) {
	r, err := numberFlag("epsilon", text)
	if err != nil {
		return privacy.Epsilon{}, err
	}
	if r.Sign() < 0 {
		return privacy.Epsilon{}, usage("--epsilon must be at least 0")
	}
	return privacy.EpsilonOf(r)
}

// manyFlag reads a number of people.
func manyFlag(name, text string) (int64, error) {
	r, err := account.ParseNumber(text)
	if err != nil || !r.IsInt() || r.Sign() <= 0 || r.Cmp(new(big.Rat).SetInt64(account.MostSteps)) > 0 {
		return 0, usage("%s is an integer from 1 to 1e12", dashed(name))
	}
	return r.Num().Int64(), nil
}

// interpreted is a promise, or a job, and what it means.
type interpreted struct {
	audit.Meaning
	job   bool
	delta privacy.Delta // as it was asked about
}

func (s *session) showInterpreted(i interpreted) error {
	header, rows := i.rows()
	switch s.format {
	case "json":
		return s.json(i)
	case "markdown":
		s.print("%s\n%s\n", markdownTable(header, []bool{1: true, 2: true, 4: true, 5: true}, rows), markdownParagraphs(i.words()))
	default:
		g := grid{right: []bool{1: true, 2: true, 4: true, 5: true}}
		g.add(header...)
		for _, row := range rows {
			g.add(row...)
		}
		s.print("%s\n%s\n", g.text("  "), i.words())
	}
	return nil
}

// rows is the table: of each pair of hypotheses the promise, what becomes of a belief, and what a test can tell.
func (i interpreted) rows() (header []string, rows [][]string) {
	header = []string{"what is to be told apart", "ε", "δ", "a belief of " + short(i.Scenario.Prior) + " becomes", "advantage", "power at " + short(i.Scenario.Alpha)}
	for _, r := range i.readings() {
		row := []string{r.name, "–", "–", "–", upTo(r.Advantage), upTo(r.Power)}
		if r.Told {
			row[1], row[2] = upTo(float(r.Promise.Epsilon.Rat())), upTo(float(r.Promise.Delta.Rat()))
			row[3] = fmt.Sprintf("%s to %s", downTo(r.Posterior.Lower), upTo(r.Posterior.Upper))
		}
		rows = append(rows, row)
	}
	return header, rows
}

type namedReading struct {
	key, name string
	audit.Reading
}

func (i interpreted) readings() []namedReading {
	together := fmt.Sprintf("a group of %d: in or out", i.Scenario.Group)
	return []namedReading{
		{"person", "one person: in or out", i.Person}, {"values", "one person: this value or that", i.Values}, {"group", together, i.Group},
	}
}

// words says what the table means.
func (i interpreted) words() string {
	p := i.Person
	var text strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&text, format, args...) }
	if p.Told {
		say("Somebody who knows all the data but whether one person's are among them, or one bit of\nhers, and believes it with %s, believes it with %s to %s afterwards",
			short(i.Scenario.Prior), downTo(p.Posterior.Lower), upTo(p.Posterior.Upper))
		if i.delta.IsZero() {
			say(", whatever the\nanswers. Of anything else that may be believed of her, odds with her data and odds without are\nwithin a factor of %s: the second row.", times(2*float(p.Promise.Epsilon.Rat())))
		} else {
			say(": on average no\nfurther beyond than %s. Some answers tell more: beyond %s to %s with probability\n%s at most.",
				upTo(p.Excess), downTo(p.Far.Lower), upTo(p.Far.Upper), upTo(p.Fails))
		}
	} else {
		say("At a δ of %s this job promises no ε, and nothing is said of beliefs after every answer: ask\nat a δ, as --delta 1e-6.", given(i.delta.Rat()))
	}
	say("\n\nA test for her that is wrong of %s of those who are out finds %s of those who are in, at most;\nfinding less being wrong, its advantage, is %s at most.",
		short(i.Scenario.Alpha), upTo(p.Power), upTo(p.Advantage))
	if i.job {
		say(" Both are by the job's own curve δ(ε).")
	}
	say("\n\nUnder add/remove, which of two values is hers is two steps; under change-one it is one, the\nfirst row.")
	if n := i.Named; n.Expected > 0 {
		say("\n\nA δ of %s among %s people is kept, too, by publishing each whole record with that probability:\nsomebody's, with probability %s; %s people's, on average.", given(i.delta.Rat()), grouping(n.People), upTo(n.Probability.Upper), upTo(n.Expected))
		if n.Warned {
			say(" Warning: a δ should be far below 1/n,\nat most %s here.", downTo(1/(100*float64(n.People))))
		}
	}
	return text.String()
}

// times is e^ε in words.
func times(e float64) string {
	if e > mostTimes {
		return "e^" + upTo(e)
	}
	return upTo(math.Nextafter(math.Exp(e), math.Inf(1)))
}

// upTo writes a bound with four digits, rounded up, and downTo rounded down.
func upTo(x float64) string { return digitsAbove(x, 4) }

func downTo(x float64) string {
	return roundedTo(4, x, func(written *big.Rat) bool { y, _ := written.Float64(); return y > x }, -1)
}

// short writes a number that was given.
func short(r *big.Rat) string { return shortPower(fmt.Sprintf("%.6g", float(r))) }

func float(r *big.Rat) float64 { f, _ := r.Float64(); return f }

// grouping writes an integer with commas.
func grouping(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// MarshalJSON writes all that is known, as doc/json.md says.
func (i interpreted) MarshalJSON() ([]byte, error) {
	parts := []string{
		fmt.Sprintf(`"prior":%s,"alpha":%s`, rounded(i.Scenario.Prior), rounded(i.Scenario.Alpha)),
	}
	for _, r := range i.readings() {
		told := `"epsilon":null,"delta":null,"posterior":null,"excess":null,"far":null,"fails":null`
		if r.Told {
			told = fmt.Sprintf(`"epsilon":%s,"delta":%s,"posterior":%s,"excess":%s,"far":%s,"fails":%s`, rounded(r.Promise.Epsilon.Rat()),
				rounded(r.Promise.Delta.Rat()), between(r.Posterior), number(r.Excess), between(r.Far), number(r.Fails))
		}
		parts = append(parts, fmt.Sprintf(`%q:{"steps":%d,%s,"advantage":%s,"power":%s}`, r.key, r.Steps, told, number(r.Advantage), number(r.Power)))
	}
	parts = append(parts, fmt.Sprintf(`"named":{"people":%d,"probability":%s,"expected":%s,"warned":%v}`,
		i.Named.People, between(i.Named.Probability), number(i.Named.Expected), i.Named.Warned))
	return fmt.Appendf(nil, "{%s}", strings.Join(parts, ",")), nil
}

// between writes two bounds; what is no number is null.
func between(b audit.Between) string {
	return fmt.Sprintf(`{"lower":%s,"upper":%s}`, number(b.Lower), number(b.Upper))
}

// onlyFlags are the flags that were given but are not among those.
func onlyFlags(flags *flag.FlagSet, allowed ...string) (other string) {
	flags.Visit(func(f *flag.Flag) {
		for _, a := range allowed {
			if f.Name == a {
				return
			}
		}
		other = f.Name
	})
	return other
}

package laboratory

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"dither/account"
	"dither/audit/attack"
	"dither/audit/interpret"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/privacy"
)

// falseAlarms is the false positive rate of the search for members. leastScored is the number of people that makes
// this rate measurable: ten of them are false alarms.
const (
	falseAlarms = 0.05
	leastScored = 10 / falseAlarms
)

// mostFound returns the largest fraction of members that any test can find at the false positive rate
// [falseAlarms], if the promise is kept.
func mostFound(p account.Approximate) float64 {
	return interpret.MostFound(p, new(big.Rat).SetFrac64(1, 1/falseAlarms))
}

// attackMembership finds members of a group from means, which are published or come from simulated curators.
func attackMembership(s *console.Console, o *attackOptions) error {
	if len(o.tables) > 0 {
		return traceTable(s, o)
	}
	if err := o.without("needs --table FILE", "about", "reference"); err != nil {
		return err
	}
	curators, err := o.curators(5, 10, 20)
	if err != nil {
		return err
	}
	if o.people >= 1 && o.runs >= 1 && max(o.people, o.runs) < leastScored && o.people*o.runs < leastScored {
		return console.Usage(
			"--people times --runs must be at least %d, or the attack cannot show a rate of %g %% false alarms",
			int(leastScored), 100*falseAlarms)
	}
	type result struct {
		described
		Found float64 `json:"found"`
	}
	r := attackReport{
		intro: fmt.Sprintf(
			"The means of %d attributes, each 0 or 1, of %d made-up people are published. An attacker knows somebody's\n"+
				"attributes, and tests whether that person is in the group. The share of members found, at %g %% false alarms\n"+
				"among other people, over %s:",
			o.attributes,
			o.people,
			100*falseAlarms,
			render.Plural(o.runs, "group"),
		),
		header: []string{"curator", "found", "at most"},
		right:  []bool{false, true, true},
		words: "Each curator adds noise to the sums, before it divides them by the number of people. A blind guess finds 5 %. \"At most\"\n" +
			"bounds the average of every test with so many false alarms, where ε is for exchanging the member for another person.\n" +
			"The noise of ours is fresh in each run, so its figures vary.",
		value: map[string]any{
			"attack": "membership", "people": o.people, "attributes": o.attributes, "false_positives": falseAlarms,
			"runs": o.runs, "seed": o.seed,
		},
	}
	curves := map[string][]plot.Point{}
	if err := r.compare(curators, mostFound, func(c simulated, d described) ([]string, any, error) {
		traced, err := attack.Membership{
			People: o.people, Attributes: o.attributes, Runs: o.runs,
			Seed: o.seed,
		}.Run(c.Curator)
		found := traced.TruePositives(falseAlarms)
		curves[c.name] = operating(traced)
		return []string{share(found)}, result{d, found}, err
	}); err != nil {
		return err
	}
	r.picture = func() (plot.Lines, error) {
		l := plot.Lines{
			Title: "Members traced from published means", X: "share of others taken for members",
			Y: "share of members found", Linear: true,
			Caption: fmt.Sprintf("%d attributes of %d people, %s.",
				o.attributes, o.people, render.Plural(o.runs, "group")),
			Lines: drawn(curators, mostFound, 0, 1, func(c simulated) []plot.Point { return curves[c.name] }),
		}
		for i, line := range l.Lines {
			if line.Name == oursAtMost {
				p, _ := curators[len(curators)-1].promise()
				l.Lines[i].Points = mostOperating(p)
			}
		}
		return l, nil
	}
	return showAttack(s, o, r)
}

// mostOperating returns the largest true positive rate that a promise permits any test, as a curve against the
// false positive rate α. The curve consists of the lines e^ε·α and 1 − e^−ε(1−α), which meet at α = 1/(1+e^ε).
func mostOperating(p account.Approximate) []plot.Point {
	y := interpret.MostGuessed(p)
	return []plot.Point{{}, {X: 1 - y, Y: y}, {X: 1, Y: 1}}
}

// operating returns the points of a curve that are drawn, at most several hundred.
func operating(t attack.Tracing) []plot.Point {
	var out []plot.Point
	curve := t.Curve()
	for i, p := range curve {
		if last := len(out) - 1; last < 0 || i == len(curve)-1 || p.FalsePositives-out[last].X >= 0.004 ||
			p.TruePositives-out[last].Y >= 0.004 {
			out = append(out, plot.Point{X: p.FalsePositives, Y: p.TruePositives})
		}
	}
	return out
}

// traceTable tests whether published means include one person.
func traceTable(s *console.Console, o *attackOptions) error {
	if err := o.only("cannot be used with --table", "table", "about", "reference"); err != nil {
		return err
	}
	if len(o.tables) > 1 || o.about == "" || o.reference == "" {
		return console.Usage(
			"attack membership on published means needs one --table MEANS.csv, --about PERSON.csv and " +
				"--reference PEOPLE.csv")
	}
	var read [3]*attack.Attributes
	for i, file := range []string{o.tables[0], o.about, o.reference} {
		var err error
		if read[i], err = readFile(file, attack.ReadAttributes); err != nil {
			return err
		}
	}
	t, err := attack.Trace(read[0], read[1], read[2])
	if err != nil {
		return err
	}
	r := attackReport{
		intro: fmt.Sprintf("Is the person in the group whose means of %s were published? The person is compared with %s\n"+
			"of the same population.", render.Plural(t.Attributes, "attribute"), persons(t.Reference)),
		header: []string{"compared", "scores at least as high", "p-value"},
		right:  []bool{true, true, true},
		rows: [][]string{{
			strconv.Itoa(t.Reference), strconv.Itoa(t.Higher),
			render.ShortPower(strconv.FormatFloat(t.PValue, 'g', 4, 64)),
		}},
		words: "For a person outside the group, the p-value is at most α with probability at most α, for every α. A small p-value\n" +
			"is evidence that the person is in the group. How probable that is depends on the belief beforehand. The people who are\n" +
			"compared must be of the same population, and none of them in the group.",
		value: map[string]any{
			"attack": "membership", "attributes": t.Attributes, "reference": t.Reference,
			"higher": t.Higher, "p_value": t.PValue,
		},
	}
	return showAttack(s, o, r)
}

// attackShame shows what is possible with a δ that is not far below 1 divided by the number of people.
func attackShame(s *console.Console, o *attackOptions) error {
	deltas := o.delta
	if deltas == "" {
		deltas = "1e-4,1e-6"
	}
	type result struct {
		Delta     float64 `json:"delta"`
		Leaks     float64 `json:"leaks"`
		Simulated float64 `json:"simulated"`
	}
	var results []result
	r := attackReport{
		intro: fmt.Sprintf(
			"Name and shame: the mechanism picks each of %s with probability δ, and publishes the records that it picked.\n"+
				"At least one record leaks with probability 1 − (1−δ)^%d. \"Simulated\" is the share of %s in which one did:", persons(o.people),
			o.people, render.Plural(o.runs, "run")),
		header: []string{"δ", "a record leaks", "simulated", "\"1\" if it is 1", "\"1\" if it is 0"},
		right:  []bool{true, true, true, true, true},
		words: "The last two columns are for one person, whose record is 0 or 1: the probability that \"1\" is published. The record changes\n" +
			"the probability of each event by at most δ, which is (0, δ)-differential privacy. But \"1\" is possible for one of the two\n" +
			"records only, so no ε holds without the δ. So δ must be far below 1 over the number of people.",
	}
	for text := range strings.SplitSeq(deltas, ",") {
		delta, err := account.ParseNumber(strings.TrimSpace(text))
		if err != nil || delta.Sign() <= 0 || delta.Cmp(big.NewRat(1, 1)) >= 0 {
			return console.Usage("--delta must be a list of numbers above 0 and below 1, not %q", deltas)
		}
		n := attack.NameAndShame{People: o.people, Delta: delta}
		simulated, err := n.Simulate(o.runs, o.seed)
		if err != nil {
			return err
		}
		_, told, err := n.Channel()
		if err != nil {
			return err
		}
		d, err := privacy.DeltaOf(delta)
		if err != nil {
			return err
		}
		leaks := interpret.Shamed(d, int64(o.people)).Upper
		one := len(told[0]) - 1 // the last output of the channel
		f, _ := delta.Float64()
		results = append(results, result{f, leaks, simulated.Mean})
		r.rows = append(r.rows,
			[]string{
				render.Given(delta), chance(leaks), share(simulated.Mean), render.Given(told[1][one]),
				render.Given(told[0][one]),
			})
	}
	r.value = map[string]any{
		"attack": "name-and-shame", "people": o.people, "runs": o.runs, "seed": o.seed,
		"deltas": results,
	}
	return showAttack(s, o, r)
}

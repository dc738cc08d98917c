package laboratory

import (
	"fmt"
	"math"

	"dither/audit/interpret"
)

// rating is one word for how much a promise protects. The rule is this program's own: it uses e^ε, the factor by which
// one person's data may multiply the probability of an answer, and with it odds, and the number of people whom the δ
// may expose. There is no agreed rule, so wherever the word appears, the rule does too.
type rating int

const (
	strong rating = iota + 1
	moderate
	weak
	hardlyAny
)

func (r rating) String() string {
	return [...]string{"none", "strong", "moderate", "weak", "hardly any"}[r]
}

// The factors up to which a promise is strong, moderate and weak, and the people named on average above which it is
// weak and hardly any.
const (
	strongTo, moderateTo, weakTo = 3, 20, 1000
	weakAbove, hardlyAnyAbove    = 0.01, 0.5
)

// rated is the rating of a reading of one person, and whether δ decides it. A reading without an ε has none.
func rated(person interpret.Reading, n interpret.Named) (r rating, byDelta bool) {
	if !person.Told {
		return 0, false
	}
	switch e := floatUp(person.Promise.Epsilon.Rat()); {
	case e <= math.Log(strongTo):
		r = strong
	case e <= math.Log(moderateTo):
		r = moderate
	case e <= math.Log(weakTo):
		r = weak
	default:
		r = hardlyAny
	}
	switch {
	case n.Expected > hardlyAnyAbove && r < hardlyAny:
		return hardlyAny, true
	case n.Warned && r < weak:
		return weak, true
	}
	return r, false
}

// verdict is the first sentence.
func (i interpreted) verdict() string {
	r, byDelta := rated(i.Person, i.Named)
	if r == 0 {
		ask := "larger δ"
		if i.delta.IsZero() {
			ask = "δ above 0, such as --delta 1e-6"
		}
		return fmt.Sprintf(
			"No rating: the job promises no ε at δ = %s, so no bound on beliefs holds after every answer. Ask at a %s. "+
				"The bounds on tests hold all the same.", i.typed["delta"], ask)
	}
	word := map[rating]string{strong: "Strong", moderate: "Moderate", weak: "Weak", hardlyAny: "Hardly any"}[r] +
		" protection by dither's own rating: "
	if byDelta {
		return fmt.Sprintf(
			"%sof %s, the δ permits naming nδ = %s on average (above %v is weak, above %v hardly any).",
			word, i.people(), many(i.named()), weakAbove, hardlyAnyAbove)
	}
	what, apart := "one person's data", ""
	if i.changeOne() {
		what = "changing one person's data"
	}
	if !i.Person.Promise.Delta.IsZero() {
		apart = ", except with the probability δ"
	}
	return fmt.Sprintf(
		"%s%s may multiply the probability of an answer by at most e^ε = %s%s (up to %d is strong, up to %d moderate, up to %s weak).",
		word,
		what,
		times(floatUp(i.Person.Promise.Epsilon.Rat())),
		apart,
		strongTo,
		moderateTo,
		grouping(weakTo),
	)
}

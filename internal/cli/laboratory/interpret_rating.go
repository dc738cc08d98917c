package laboratory

import (
	"fmt"
	"math"

	"dither/audit/interpret"
)

// rating is one word for the strength of a promise. It depends on e^ε, the factor by which one person's data may
// multiply the probability of an answer and the odds of a belief. It also depends on the number of people whom the
// δ may expose. There is no accepted rule, and this one is the program's own. The rule is therefore printed
// wherever the word is.
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

// Limits of the ratings. A promise is strong, moderate or weak if e^ε is at most strongTo, moderateTo or weakTo. It
// is at best weak, or gives hardly any protection, if the mean number of exposed people is above weakAbove or
// hardlyAnyAbove.
const (
	strongTo, moderateTo, weakTo = 3, 20, 1000
	weakAbove, hardlyAnyAbove    = 0.01, 0.5
)

// rated returns the rating of the reading about one person. byDelta reports whether δ decides the rating. The
// rating is 0 for a reading without an ε.
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

// verdict returns the first sentence of the explanation, which rates the promise.
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

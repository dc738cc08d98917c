package laboratory

import (
	"fmt"

	"dither/audit/interpret"
	"dither/internal/cli/render"
)

// namedReading is the result for one pair of hypotheses, with its key in JSON and its name in the table.
type namedReading struct {
	key, name string
	interpret.Reading
}

// readings returns the results for each pair of hypotheses that an attacker may want to distinguish.
func (i interpreted) readings() []namedReading {
	if i.changeOne() {
		return []namedReading{
			{"person", "her data: one value or another", i.Person},
			{"values", "the data of two people", i.Values},
			{"group", fmt.Sprintf("the data of a group of %s", grouping(i.Scenario.Group)), i.Group},
		}
	}
	return []namedReading{
		{"person", "is she in the data?", i.Person},
		{"values", "her data: one value or another", i.Values},
		{"group", fmt.Sprintf("is a group of %s in the data?", grouping(i.Scenario.Group)), i.Group},
	}
}

// rows returns the main table. For each pair of hypotheses, it has the resulting belief and the power of a test. A
// pure promise also has the factor of the odds; a promise with δ has the probability of a worse belief.
func (i interpreted) rows() (header []string, rows [][]string) {
	pure := i.delta.IsZero()
	second := "except with probability"
	if pure {
		second = "odds multiplied by"
	}
	header = []string{"an attacker's question", i.prior() + " rises to", second, "found, " + i.accused() + " accused"}
	if pure {
		header[1], header[2] = header[2], header[1]
	}
	for _, r := range i.readings() {
		if r.key == "group" && r.Steps == 1 || r.key == "values" && i.changeOne() {
			continue
		}
		row := []string{r.name, "–", "–", i.found(r.Reading)}
		switch {
		case !r.Told:
		case pure:
			row[1], row[2] = times(floatUp(r.Promise.Epsilon.Rat())), i.belief(r.Reading, r.Posterior)
		case r.Void():
			row[1] = "nothing promised"
		case r.Fails < 1:
			row[1], row[2] = i.belief(r.Reading, r.Far), upTo(r.Fails)
		default:
			row[1], row[2] = "no bound known", "–"
		}
		rows = append(rows, row)
		if r.key == "person" && r.Told && pure && i.changeOne() {
			rows = append(rows, []string{
				"her data or a default instead", times(2 * floatUp(r.Promise.Epsilon.Rat())),
				i.belief(r.Reading, r.Far), "–",
			})
		}
	}
	return header, rows
}

// figures returns a table of the same results as numbers, for statisticians: the resulting belief, the advantage of
// a guess at even odds, and the power of the best test at level α.
func (i interpreted) figures() (header []string, rows [][]string) {
	header = []string{
		"as numbers", "ε", "δ", "a belief of " + i.typed["prior"] + " becomes", "advantage",
		"power at " + i.typed["alpha"],
	}
	for _, r := range i.readings() {
		if r.key == "group" && r.Steps == 1 {
			continue
		}
		row := []string{r.name, "–", "–", "–", upTo(r.Advantage), upTo(r.Power)}
		if r.Told {
			row[1], row[2] = render.Given(r.Promise.Epsilon.Rat()), render.Given(r.Promise.Delta.Rat())
			belief := r.Posterior
			if !r.Promise.Delta.IsZero() {
				belief = r.Far // a larger belief has at most the probability in the main table
			}
			row[3] = downTo(belief.Lower) + " to " + upTo(belief.Upper)
			if r.Promise.Epsilon.IsZero() && r.Promise.Delta.IsZero() {
				row[3] = i.typed["prior"] // the prior as typed, because it may not be a float
			}
		}
		rows = append(rows, row)
	}
	return header, rows
}

package laboratory

import (
	"encoding/json"
	"math/big"

	"dither/audit/interpret"
	"dither/internal/cli/render"
)

// The JSON form of interpret's results, which docs/reference/json.md documents.
type (
	interpretJSON struct {
		Prior      json.RawMessage `json:"prior"`
		Alpha      json.RawMessage `json:"alpha"`
		Neighbours string          `json:"neighbours"`
		Rating     string          `json:"rating"`
		Person     readingJSON     `json:"person"`
		Values     readingJSON     `json:"values"`
		Group      readingJSON     `json:"group"`
		Named      namedJSON       `json:"named"`
	}
	readingJSON struct {
		Steps     int64           `json:"steps"`
		Epsilon   json.RawMessage `json:"epsilon"`
		Delta     json.RawMessage `json:"delta"`
		Posterior *betweenJSON    `json:"posterior"`
		Excess    json.RawMessage `json:"excess"`
		Far       *betweenJSON    `json:"far"`
		Fails     json.RawMessage `json:"fails"`
		Advantage json.RawMessage `json:"advantage"`
		Power     json.RawMessage `json:"power"`
	}
	namedJSON struct {
		People      int64           `json:"people"`
		Assumed     bool            `json:"assumed"`
		Probability *betweenJSON    `json:"probability"`
		Expected    json.RawMessage `json:"expected"`
		Warned      bool            `json:"warned"`
	}
	betweenJSON struct {
		Lower json.RawMessage `json:"lower"`
		Upper json.RawMessage `json:"upper"`
	}
)

// MarshalJSON implements json.Marshaler.
func (i interpreted) MarshalJSON() ([]byte, error) {
	r, _ := rated(i.Person, i.Named)
	return json.Marshal(interpretJSON{
		Prior: decimal(i.Scenario.Prior), Alpha: decimal(i.Scenario.Alpha),
		Neighbours: i.Scenario.Neighbours.String(), Rating: r.String(),
		Person: readingOf(i.Person), Values: readingOf(i.Values), Group: readingOf(i.Group),
		Named: namedJSON{
			i.Named.People, !i.counted, between(i.Named.Probability), number(i.Named.Expected), i.Named.Warned,
		},
	})
}

// readingOf returns a reading in its JSON form. A reading without an ε has null in place of the bounds on beliefs.
func readingOf(r interpret.Reading) readingJSON {
	out := readingJSON{Steps: r.Steps, Advantage: number(r.Advantage), Power: number(r.Power)}
	if r.Told {
		out.Epsilon, out.Delta = number(floatUp(r.Promise.Epsilon.Rat())), number(floatUp(r.Promise.Delta.Rat()))
		out.Posterior, out.Excess = between(r.Posterior), number(r.Excess)
		out.Far, out.Fails = between(r.Far), number(r.Fails)
	}
	return out
}

// number returns a float in JSON. NaN becomes null.
func number(x float64) json.RawMessage { return json.RawMessage(render.JSONFloat(x)) }

// decimal returns a number from the user in JSON: exactly if it is a decimal, and otherwise as the nearest float.
func decimal(r *big.Rat) json.RawMessage {
	if places, finite := r.FloatPrec(); finite {
		return json.RawMessage(r.FloatString(places))
	}
	return json.RawMessage(render.JSONRat(r))
}

// between returns two bounds in their JSON form.
func between(b interpret.Between) *betweenJSON { return &betweenJSON{number(b.Lower), number(b.Upper)} }

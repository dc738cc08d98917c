package curator

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"dither/internal/exact"
)

// The JSON of answers, as docs/reference/json.md says. Types whose fields are their JSON carry tags where they are
// declared; for the others a struct with tags stands here.

// marshal is json.Marshal that leaves <, > and & as they are: questions are full of them, and no browser reads this
// raw.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// members is a JSON object whose names are data. They keep their order.
type members []member

type member struct {
	name  string
	value any
}

func (m members) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, x := range m {
		if i > 0 {
			text = append(text, ',')
		}
		name, err := marshal(x.name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(x.value)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}

// orNull is null for a zero, in place of 0 or "".
func orNull[T comparable](x T) *T {
	if x == *new(T) {
		return nil
	}
	return &x
}

// decimal is an exact decimal as a JSON number, and a fraction as its nearest double.
type decimal string

func (d decimal) MarshalJSON() ([]byte, error) {
	p, q, fraction := strings.Cut(string(d), "/")
	if !fraction {
		return json.Marshal(json.Number(d))
	}
	x, _ := strconv.ParseFloat(p, 64)
	y, _ := strconv.ParseFloat(q, 64)
	return json.Marshal(x / y)
}

// finite is null for NaN and infinities.
type finite float64

func (x finite) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(x))
}

// maxSafe is the largest integer that every JSON reader keeps exactly.
const maxSafe = 1 << 53

// MarshalJSON writes a number. An integer beyond 2^53 is a string, so that no reader rounds it.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.Text != nil {
		return marshal(*n.Text)
	}
	if n.Whole == nil {
		return json.Marshal(unsigned(n.Real))
	}
	text := n.Whole.String()
	if math.Abs(n.Real) > maxSafe {
		text = strconv.Quote(text)
	}
	return []byte(text), nil
}

// String writes the number in full.
func (n Number) String() string {
	if n.Text != nil {
		return *n.Text
	}
	if n.Whole != nil {
		return n.Whole.String()
	}
	return exact.FormatFloat(n.Real, 'g', -1)
}

// unsigned takes the sign from a zero.
func unsigned(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}

// MarshalJSON writes {"epsilon", "delta", "rho"}. rho is null if the loss is pure, and epsilon if none is stated. An
// epsilon that is not proved at every moment is "epsilon_if_fixed" instead.
func (l Loss) MarshalJSON() ([]byte, error) {
	out := struct {
		Epsilon *decimal `json:"epsilon"`
		Delta   *decimal `json:"delta"`
		Rho     *decimal `json:"rho"`
		IfFixed any      `json:"epsilon_if_fixed,omitempty"` // nil is left out, a nil *decimal is null
	}{orNull(decimal(l.Epsilon)), orNull(decimal(l.Delta)), orNull(decimal(l.Rho)), nil}
	if l.IfFixed {
		out.Epsilon, out.IfFixed = nil, out.Epsilon
	}
	return marshal(out)
}

// share is the member for a share of the price: ε if the price is pure, else ρ.
type share struct {
	Rho     *decimal `json:"rho,omitempty"`
	Epsilon *decimal `json:"epsilon,omitempty"`
}

func shareJSON(l Loss) share {
	if l.Rho != "" {
		return share{Rho: (*decimal)(&l.Rho)}
	}
	return share{Epsilon: (*decimal)(&l.Epsilon)}
}

// MarshalJSON writes {"error": {…}}.
func (e *Error) MarshalJSON() ([]byte, error) {
	type text struct {
		Code    Code   `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
		Line    *int   `json:"line"`
		Column  *int   `json:"column"`
		Retry   bool   `json:"retry"`
		Charged bool   `json:"charged,omitempty"`
	}
	return marshal(struct {
		Error text `json:"error"`
	}{text{e.Code, e.Message, e.Hint, orNull(e.Line), orNull(e.Column), e.Retry, e.Charged}})
}

// MarshalJSON writes the account.
func (b *Budget) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Population string          `json:"population"`
		Neighbours string          `json:"neighbours"`
		Budget     Loss            `json:"budget"`
		Spent      Loss            `json:"spent"`
		Remaining  Loss            `json:"remaining"`
		Answers    int             `json:"answers"`
		Failures   int             `json:"failures"`
		GivenUp    []GivenUp       `json:"given_up,omitempty"`
		Lost       *LostLoss       `json:"lost,omitempty"`
		Largest    decimal         `json:"largest_epsilon"`
		Period     *PeriodBudget   `json:"period,omitempty"`
		Analysts   []AnalystBudget `json:"analysts,omitempty"`
		Divided    []string        `json:"divided,omitempty"`
		Group      *GroupLoss      `json:"group,omitempty"`
		Persons    []PersonLoss    `json:"persons,omitempty"`
	}{
		b.Population, b.Neighbours, b.Budget, b.Spent, b.Remaining, b.Answers, b.Failures, b.GivenUp, b.Lost,
		decimal(b.Largest),
		b.Period, b.Analysts, b.Divided, b.Group, b.Persons,
	})
}

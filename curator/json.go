package curator

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"dither/internal/exact"
)

// This file writes the JSON that docs/reference/json.md documents. A type whose fields match its JSON has JSON tags
// at its declaration. Here, the other types are copied into structs with JSON tags.

// PlainJSON is json.Marshal, but it does not escape <, > and &. Questions often contain them, and no browser reads
// this text as HTML.
func PlainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// members is a JSON object whose member names come from data. It keeps their order.
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
		name, err := PlainJSON(x.name)
		if err != nil {
			return nil, err
		}
		value, err := PlainJSON(x.value)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}

// orNull returns nil for the zero value, so that JSON shows null instead of 0 or "".
func orNull[T comparable](x T) *T {
	if x == *new(T) {
		return nil
	}
	return &x
}

// decimal is an exact decimal that becomes a JSON number. A fraction becomes its nearest double.
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

// finite is a double that becomes null if it is NaN or infinite.
type finite float64

func (x finite) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(x))
}

// maxSafe is 2^53. Every JSON reader keeps integers up to it exactly.
const maxSafe = 1 << 53

// MarshalJSON writes a number. An integer beyond 2^53 becomes a string, so that no reader rounds it.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.Text != nil {
		return PlainJSON(*n.Text)
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

// unsigned returns x, with 0 for −0.
func unsigned(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}

// MarshalJSON writes {"epsilon", "delta", "rho"}. rho is null for a pure loss, and epsilon is null if none is
// stated. For a Loss with IfFixed, epsilon is null, and a further member "epsilon_if_fixed" holds its value.
func (l Loss) MarshalJSON() ([]byte, error) {
	out := struct {
		Epsilon *decimal `json:"epsilon"`
		Delta   *decimal `json:"delta"`
		Rho     *decimal `json:"rho"`
		// a nil interface is omitted; a nil *decimal would become null
		IfFixed any `json:"epsilon_if_fixed,omitempty"`
	}{orNull(decimal(l.Epsilon)), orNull(decimal(l.Delta)), orNull(decimal(l.Rho)), nil}
	if l.IfFixed {
		out.Epsilon, out.IfFixed = nil, out.Epsilon
	}
	return PlainJSON(out)
}

// share holds a share of the price in JSON: ε for a pure price, else ρ.
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
	return PlainJSON(struct {
		Error text `json:"error"`
	}{text{e.Code, e.Message, e.Hint, orNull(e.Line), orNull(e.Column), e.Retry, e.Charged}})
}

// MarshalJSON writes the state of the budget.
func (b *Budget) MarshalJSON() ([]byte, error) {
	return PlainJSON(struct {
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

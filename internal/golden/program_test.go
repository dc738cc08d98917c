package golden

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dither/curator"
)

// All that the goldens know of the program stands in three files: here how a home is opened, what its ledger looks
// like, and which of what comes back are figures; in ways_test.go how each kind of question is asked; in
// plans_test.go what a plan is.

// ask is a question as the goldens keep it.
type ask struct {
	Do  string `json:"do,omitempty"` // "" is answer
	SQL string `json:"sql,omitempty"`

	Epsilon    string `json:"epsilon,omitempty"`
	Rho        string `json:"rho,omitempty"`
	Within     string `json:"within,omitempty"`
	At         string `json:"at,omitempty"`
	Confidence string `json:"confidence,omitempty"`
	MaxGroups  int64  `json:"max_groups,omitempty"`
	MaxRows    string `json:"max_rows,omitempty"`
	Truncation string `json:"truncation,omitempty"`
	LostRows   int64  `json:"truncation_rows,omitempty"`
	Delta      string `json:"delta,omitempty"`
	MinUnits   int64  `json:"min_units,omitempty"`
	Other      bool   `json:"other,omitempty"`
	Group      int64  `json:"group,omitempty"`
	Analyst    string `json:"analyst,omitempty"`
	Whole      bool   `json:"whole,omitempty"`
	Combine    bool   `json:"combine,omitempty"`
	Allow      bool   `json:"allow_selection,omitempty"`

	// Follows says that the question is answered from others' releases: it is asked of the old home alone.
	Follows bool `json:"follows,omitempty"`

	Mechanism  string      `json:"mechanism,omitempty"`
	Best       int         `json:"best,omitempty"`
	Ranks      []string    `json:"ranks,omitempty"`
	Loss       string      `json:"loss,omitempty"`
	Bound      string      `json:"bound,omitempty"`
	Radius     string      `json:"radius,omitempty"`
	Regularise string      `json:"regularise,omitempty"`
	Curvature  string      `json:"curvature,omitempty"`
	Rows       int64       `json:"rows,omitempty"`
	Candidates [][2]string `json:"candidates,omitempty"`
	Trials     float64     `json:"trials,omitempty"`
	Plain      bool        `json:"plain,omitempty"` // a line without intervals
	Blocks     []block     `json:"blocks,omitempty"`
	Sums       []sum       `json:"sums,omitempty"`
	Centres    [][]float64 `json:"centres,omitempty"`
	Table      string      `json:"table,omitempty"`
	Threshold  string      `json:"threshold,omitempty"`
	Above      int         `json:"above,omitempty"`
	Most       int64       `json:"most,omitempty"`
	Values     bool        `json:"values,omitempty"`
	Stream     []string    `json:"stream,omitempty"`
	Model      string      `json:"model,omitempty"`
	Classes    int         `json:"classes,omitempty"`
	Hidden     int         `json:"hidden,omitempty"`
	Activation string      `json:"activation,omitempty"`
	Clip       string      `json:"clip,omitempty"`
	Rate       string      `json:"rate,omitempty"`
	Multiplier string      `json:"multiplier,omitempty"`
	Steps      int64       `json:"steps,omitempty"`
	Taken      int64       `json:"taken,omitempty"` // of the steps, before the home was closed
}

type block struct {
	Size  int    `json:"size"`
	Norm  string `json:"norm"`
	Bound string `json:"bound"`
}

type sum struct {
	Kind   string `json:"kind"`
	I      int    `json:"i,omitempty"`
	J      int    `json:"j,omitempty"`
	Weight string `json:"weight,omitempty"`
}

// figures are what a question gave: a JSON object.
type figures = map[string]any

func open(t testing.TB, home string) *curator.Owner {
	t.Helper()
	c, err := curator.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (a ask) question(fresh bool) curator.Question {
	return curator.Question{
		SQL: a.SQL, Epsilon: a.Epsilon, Rho: a.Rho, Within: a.Within, At: a.At, Confidence: a.Confidence,
		MaxGroups: a.MaxGroups, MaxRows: a.MaxRows, Truncation: a.Truncation, TruncationRows: a.LostRows, Delta: a.Delta,
		MinUnits: a.MinUnits, Other: a.Other, Group: a.Group, Analyst: a.Analyst, Whole: a.Whole, Combine: a.Combine,
		AllowSelection: a.Allow, Fresh: fresh,
	}
}

// request is the question's text, price and asker.
func (a ask) request(fresh bool) curator.Request {
	return curator.Request{SQL: a.SQL, Epsilon: a.Epsilon, Rho: a.Rho, Analyst: a.Analyst, Fresh: fresh}
}

// explained is what is foretold of a question, free: nothing that depends on what the ledger has, nor the bound on what
// one unit costs, which the goldens are older than. Without fresh, it explains the plan whose release is replayed.
func explained(ctx context.Context, c *curator.Owner, a ask, fresh bool) (figures, error) {
	q := a.question(fresh)
	q.Combine = false
	e, err := c.Explain(ctx, q)
	if err != nil {
		return nil, err
	}
	out := object(e)
	for _, not := range []string{"sql", "notes", "remaining", "affordable", "largest_epsilon", "replayed", "reuse", "work"} {
		delete(out, not)
	}
	return plain(out)
}

// given is what came of a question: its figures, the name of its release, and whether it was free.
type given struct {
	figures  figures
	release  string
	replayed bool
}

// answered asks a question, and gives its figures with what the ledger has of it by then. A refusal is figures too:
// its code, and where.
func answered(ctx context.Context, c *curator.Owner, home string, a ask, fresh bool) (given, error) {
	before, err := logged(home)
	if err != nil {
		return given{}, err
	}
	way, ok := asks[a.Do]
	if !ok {
		return given{}, fmt.Errorf("no way to %s", a.Do)
	}
	g, refused := way(ctx, c, a, fresh)
	if refused != nil {
		var e *curator.Error
		if !errors.As(refused, &e) || e.Charged {
			return given{}, refused
		}
		g = given{figures: refusal(refused)}
	}
	entries, err := before.since(home)
	if err != nil {
		return given{}, err
	}
	charged := []any{}
	for _, e := range entries {
		if e.Kind == "reserve" {
			charged = append(charged, reserved(e.Body))
		}
	}
	g.figures["charged"] = charged
	g.figures, err = plain(g.figures)
	return g, err
}

// refusal is a refusal's figures.
func refusal(err error) figures {
	var e *curator.Error
	if !errors.As(err, &e) {
		return figures{"refused": err.Error()}
	}
	return figures{"refused": string(e.Code), "at": []int{e.Line, e.Column}}
}

// reserved is what a reservation says but for its question and its tables' policy, which are the home's.
func reserved(body json.RawMessage) any {
	out := figures{}
	_ = json.Unmarshal(body, &out)
	delete(out, "question")
	delete(out, "policy")
	return out
}

// entry is a line of the ledger.
type entry struct {
	Kind string          `json:"kind"`
	Body json.RawMessage `json:"body"`
}

// log is how long a home's ledger is.
type log int64

func logged(home string) (log, error) {
	info, err := os.Stat(filepath.Join(home, "ledger.log"))
	if err != nil {
		return 0, err
	}
	return log(info.Size()), nil
}

// since are the entries that were added.
func (l log) since(home string) (out []entry, err error) {
	text, err := tail(filepath.Join(home, "ledger.log"), int64(l))
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		if len(line) == 0 || err != nil {
			break
		}
		var e entry
		err = json.Unmarshal(line, &e)
		out = append(out, e)
	}
	return out, err
}

func tail(file string, from int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() == from {
		return nil, err
	}
	out := make([]byte, info.Size()-from)
	_, err = f.ReadAt(out, from)
	return out, err
}

// account is what a home's budget says, but for dates.
func account(c *curator.Owner) (figures, error) {
	b, err := c.Budget()
	if err != nil {
		return nil, err
	}
	out := figures{
		"population": b.Population, "neighbours": b.Neighbours, "budget": b.Budget, "spent": b.Spent,
		"answers": b.Answers, "failures": b.Failures,
		"lost": b.Lost, "persons": b.Persons, "analysts": b.Analysts, "divided": b.Divided,
	}
	if b.Period == nil {
		out["remaining"], out["largest"] = b.Remaining, b.Largest
	} else {
		out["per"] = b.Period.Per
	}
	return plain(out)
}

func object(v any) figures {
	text, err := json.Marshal(v)
	if err != nil {
		return figures{"json": err.Error()}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	out := figures{}
	if err := decoder.Decode(&out); err != nil {
		return figures{"json": err.Error()}
	}
	return out
}

// replayable are the kinds of question that are replayed when they are asked again.
func (a ask) replayable() bool { return !slices.Contains([]string{"above", "train"}, a.Do) }

package estimate

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"testing"

	"dither/curator"
)

// Results in JSON are byte for byte what testdata/results.jsonl holds; DITHER_UPDATE_JSON=1 writes it anew.
func TestResultsInJSON(t *testing.T) {
	number := func(x float64) *curator.Number { return &curator.Number{Real: x} }
	half := 0.5
	price := curator.Loss{Epsilon: "0.5", Delta: "1e-6"}
	remaining := curator.Loss{Rho: "1.5", Delta: "1e-6"}
	var got bytes.Buffer
	for _, v := range []json.Marshaler{
		&Result{},
		&Result{
			Kind: "mean", Method: MethodBounded, Keys: []string{"g", `"a<b"`}, Confidence: "0.95", Population: true,
			Releases: []string{"r1", "r2"},
			Price:    []curator.Loss{price, price}, Remaining: remaining, Replayed: true,
			Notes: []string{"x < y & z > \"w\"", "é"},
			Values: []Value{
				{Keys: []any{"u<v", int64(3)}, Name: "mean(x & y)", Value: number(1e21), StdError: &half, Low: number(-1.25), High: nil},
				{Keys: []any{nil, true}, Name: "mean(z)"},
				{Keys: []any{"one"}, Name: "fewer"},
			},
		},
		&Result{
			Kind: "quantile", Method: MethodJoint, Confidence: "0.9", Price: []curator.Loss{price},
			Notes: []string{}, Values: []Value{{
				Name:  "quantile(x, 0.5)",
				Value: &curator.Number{Whole: big.NewInt(3), Real: 3},
			}},
		},
		&Plan{},
		&Plan{
			Kind: "covariance", Method: MethodCoinPress, Why: "It was <asked> for.", Price: price, Remaining: remaining,
			Affordable: true, Confidence: "0.99",
			Accesses: []Access{
				{SQL: "SELECT x < 1", What: "round 1", Price: price, Expected: "± 2"},
				{What: "round 2", Price: price},
			}, Notes: []string{"a & b"},
		},
	} {
		text, err := v.MarshalJSON()
		if err != nil {
			text = []byte(err.Error())
		}
		got.Write(append(text, '\n'))
	}
	const file = "testdata/results.jsonl"
	if os.Getenv("DITHER_UPDATE_JSON") != "" {
		if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s", got.Bytes())
	}
}

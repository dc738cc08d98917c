package curator

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/release"
)

// Ahead is a question that a step of [Rounds] answers, for a part of their price: quantiles of a value, or values of a
// key that are not known. The marginals of later steps may depend on its answer: see [Rounds.Change]. It is declared when the
// rounds are paid for, so that it is rehearsed before, and recorded with them.
type Ahead struct {
	SQL   string    // SELECT x FROM t WHERE …, or SELECT k, COUNT(*) FROM t WHERE … GROUP BY k
	At    []string  // the quantiles, as Quantiles.At; none for the values of a key
	Price StepPrice // for the values of a key, the policy's δ comes on top, and is charged with the rounds
}

// FoundKey is a selected value of a key, with the noisy number of its rows.
type FoundKey struct {
	Text  *string // nil: NULL
	Count *big.Int
}

// ahead returns the accesses of a request's questions, and describes them.
func (c *Session) ahead(q RoundsRequest) (out []release.Primitive, about string, err error) {
	for _, a := range q.Ahead {
		by := Request{SQL: a.SQL, Epsilon: a.Price.Epsilon, Rho: a.Price.Rho, Analyst: q.Analyst, step: true}
		if a.Price == (StepPrice{}) { // not the policy's default
			return nil, "", &Error{Code: CodeUsage, Message: "a step needs a price", Hint: "give Epsilon, or Rho under a zCDP budget"}
		}
		c.timed(&by.SQL)
		about += by.SQL + "; "
		if len(a.At) > 0 {
			of := Quantiles{Request: by, At: a.At, Mechanism: RecursiveQuantiles}
			r, _, err := c.ranking(&of)
			if err != nil {
				return nil, "", err
			}
			out = append(out, r)
			continue
		}
		of, err := c.ask(by.Question())
		if err != nil {
			return nil, "", err
		}
		p := of.plan
		if p.Selection == nil || len(p.Keys) != 1 || len(p.Measures) != 1 || p.Measures[0].X != nil || p.Rows != nil || p.Truncation != nil {
			return nil, "", &Error{
				Code: CodeUsage, Message: "a step of rounds selects values of one key that are not known, with one count",
				Hint: "ask a question such as SELECT city, COUNT(*) FROM people GROUP BY city",
			}
		}
		out = append(out, of.query)
	}
	return out, about, nil
}

// Quantiles runs a step that answers a question of Ahead, by its index. It returns one value for each of its quantiles.
func (r *Rounds) Quantiles(ctx context.Context, ahead int) (values []*big.Rat, replayed bool, err error) {
	if ahead < 0 || ahead >= len(r.request.Ahead) || len(r.request.Ahead[ahead].At) == 0 {
		return nil, false, &Error{Code: CodeUsage, Message: fmt.Sprintf("question %d of Ahead has no quantiles", ahead)}
	}
	found, p, replayed, err := r.run(ctx, ahead)
	if err != nil {
		return nil, false, err
	}
	m := p.(*release.Quantiles).Target().Measures[0]
	for _, row := range found.Numbers {
		values = append(values, m.Units(row[0]))
	}
	return values, replayed, nil
}

// Keys runs a step that answers a question of Ahead, by its index. It returns the values of many units.
func (r *Rounds) Keys(ctx context.Context, ahead int) (keys []FoundKey, replayed bool, err error) {
	if ahead < 0 || ahead >= len(r.request.Ahead) || len(r.request.Ahead[ahead].At) > 0 {
		return nil, false, &Error{Code: CodeUsage, Message: fmt.Sprintf("question %d of Ahead selects no values", ahead)}
	}
	found, _, replayed, err := r.run(ctx, ahead)
	if err != nil {
		return nil, false, err
	}
	for i, group := range found.Groups {
		key := FoundKey{Count: found.Numbers[i][0]}
		if !group[0].Null {
			text := group[0].String()
			key.Text = &text
		}
		keys = append(keys, key)
	}
	return keys, replayed, nil
}

func (r *Rounds) run(ctx context.Context, ahead int) (v release.Values, p release.Primitive, replayed bool, err error) {
	if v, replayed, err = r.rounds.Run(ctx, ahead); err != nil {
		return v, nil, false, r.public(err)
	}
	return v, r.rounds.Ahead()[ahead], replayed, nil
}

// Change asks the further steps about other marginals of the same tables: those of a question that the answers of steps
// before decided. The price and the number of steps stay.
func (r *Rounds) Change(ctx context.Context, sql string, candidates [][]int) error {
	q := r.request
	q.SQL, q.Candidates = sql, candidates
	r.curator.timed(&q.SQL)
	p, err := r.curator.roundsPlan(q)
	if err == nil {
		err = r.rounds.Change(ctx, p)
	}
	if err != nil {
		return r.public(err)
	}
	r.describe()
	return nil
}

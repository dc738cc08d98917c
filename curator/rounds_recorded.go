package curator

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"dither/internal/plan"
	"dither/noise"
)

// RecordedRounds is what the ledger has of [Rounds]: the marginals that they have measured so far.
type RecordedRounds struct {
	ID        string
	Values    [][]any // for each GROUP BY expression, its known values, as in Domain
	Marginals []RecordedMarginal
	Versions  map[string]int // the version of each table that was measured
	Current   bool           // these versions are the present ones
	Finished  bool
}

// RecordedMarginal is a measured marginal. Its cells are ordered as those of StrategyPart.Keys.
type RecordedMarginal struct {
	Keys   []int      // indices of the question's GROUP BY expressions
	Values []*big.Int // in units of Unit
	Unit   *big.Rat   // 1 for counts
	Noise  noise.Distribution
}

// RecordedRounds returns the marginals that rounds have measured, named by their reservation, such as r3. It spends
// nothing, and reads no row. The rounds may be finished, interrupted, or ended by a change of the policy or of a table.
//
// The question of q must be one that the analyst may ask now, and the rounds must have measured it: the same rows of a
// unit count, by the same keys with the same values. Otherwise there is an error, which is the same whatever the name
// stands for. The price of q, its candidates and its steps are not used.
func (c *Session) RecordedRounds(_ context.Context, q Request, name string) (*RecordedRounds, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	q.Epsilon, q.Rho = "", ""
	c.timed(&q.SQL)
	request, err := c.request(q.Question()) // whether the analyst may ask comes before the ledger
	if err != nil {
		return nil, c.public(err)
	}
	p, err := plan.BuildHistogram(c.filled(), request)
	if err != nil {
		return nil, c.public(err)
	}
	now, _, err := c.kernel.Sealed(&p.Base)
	if err != nil {
		return nil, c.public(err)
	}
	number, named := strings.CutPrefix(name, "r")
	id, err := strconv.ParseUint(number, 10, 63)
	if !named || err != nil {
		return nil, &Error{
			Code: CodeUsage, Message: fmt.Sprintf("%q names no release", name), Hint: "name a release such as r3",
		}
	}
	of, err := c.kernel.RecordedRounds(p, id)
	if err != nil {
		return nil, c.public(err)
	}
	out := &RecordedRounds{
		ID: fmt.Sprintf("r%d", id), Values: domainValues(p), Finished: of.Finished, Versions: map[string]int{}, Current: true,
	}
	for _, s := range of.Sources {
		out.Versions[s.Table] = s.Version
	}
	for _, v := range now {
		out.Current = out.Current && out.Versions[v.Table] == v.Number
	}
	for _, m := range of.Marginals {
		out.Marginals = append(out.Marginals, RecordedMarginal{
			Keys: m.Keys, Values: m.Values, Unit: p.Base.Measures[0].Unit(), Noise: m.Noise,
		})
	}
	return out, nil
}

package answer

import (
	"bytes"
	"context"
	"fmt"

	"dither/curator"
	"dither/strategy"
)

// mostRemembered is the largest number of strategies that a home remembers for one question and price.
const mostRemembered = 8

// rememberedAs names a strategy that was measured for the column's question, price and order of values.
func (c *Column) rememberedAs(i int) string {
	return fmt.Sprintf("measured column 1\nunit %d\nprice %q %q\norder %v\nnumber %d\n%s",
		c.Unit, c.request.Rho, c.request.Epsilon, c.places, i, c.request.SQL)
}

// remembered returns the record of a choice under the first name that is free; nothing if there is none.
func (c *Column) remembered(data []byte) []curator.Choice {
	for i := range mostRemembered {
		of := c.rememberedAs(i)
		known := c.session.Choice(of)
		if known == nil {
			return []curator.Choice{{Of: of, Data: data}}
		}
		if bytes.Equal(known, data) {
			return nil
		}
	}
	return nil
}

// Measured returns the choice with a strategy in place of the chosen one that [Column.MeasureChoice] measured before,
// for another workload over the same column at the same price. Of several, it takes the one of least RMSE for this
// workload. [Column.Measure] then replays its release, free. Measured returns nil if there is none, or if the chosen
// strategy itself was measured before.
//
// A strategy has full column rank, so its release determines every workload. Its errors are exact for this workload.
// They may be larger than those of the chosen strategy. The kernel decides which strategies were released for the
// present version of the table: Measured takes only those that it would replay. It spends nothing and reads no row.
func (c *Column) Measured(ctx context.Context, choice *strategy.Choice) (*strategy.Choice, error) {
	own, err := c.Explain(ctx, choice.Chosen)
	if err != nil || own.Replayed {
		return nil, err
	}
	var best *strategy.Strategy
	for i := range mostRemembered {
		data := c.session.Choice(c.rememberedAs(i))
		if data == nil {
			continue
		}
		known, err := strategy.Restore(choice.Chosen.Workload(), c.Unit, data)
		if err != nil || best != nil && best.RMSE <= known.Chosen.RMSE {
			continue // a damaged record is ignored, as for Choose
		}
		if x, err := c.Explain(ctx, known.Chosen); err != nil || !x.Replayed {
			continue
		}
		best = known.Chosen
	}
	if best == nil {
		return nil, nil
	}
	best.Name += ", measured before"
	out := *choice
	out.Chosen = best
	out.Candidates = append(out.Candidates[:len(out.Candidates):len(out.Candidates)],
		strategy.Candidate{Name: best.Name, Expected: best.Expected})
	return &out, nil
}

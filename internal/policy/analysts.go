package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"dither/privacy"
)

// maxAnalysts bounds how many a policy lists.
const maxAnalysts = 1000

// analysts reads who may ask, and the most that each may spend, of the whole budget: as a share of it (20%), an ε, or {rho: …}.
// Analysts may tell each other what they learnt: no limit promises anything beside the budget.
func (r *reader) analysts(f field, b Budget) map[string]privacy.Loss {
	if !f.present() || b.Loss.IsZero() {
		return nil
	}
	whole := b
	whole.Grant = Grant{}
	out := map[string]privacy.Loss{}
	entries := f.entries()
	if len(entries) == 0 || len(entries) > maxAnalysts {
		f.failKey("", "between 1 and %d analysts are listed", maxAnalysts)
		return nil
	}
	names := map[string]string{}
	for _, e := range entries {
		e.unique(names)
		if !identifier.MatchString(e.key.Value) {
			e.failKey("", "must be a letter or _ followed by at most 62 letters, digits, _ or -")
		}
		limit, share, ok := e.limitOf(whole)
		if ok {
			limit = b.selecting(limit, share)
		}
		if ok && !limit.Within(b.Loss) {
			e.fail("", "is above the budget (%v)", b.Loss)
		}
		out[e.key.Value] = limit
	}
	return out
}

// selecting is an analyst's limit with its δ for the selection of groups: a share's is the same share of the budget's, and where the limit is an ε
// or a ρ, of which δ is no part, it is all of it.
func (b Budget) selecting(limit privacy.Loss, share bool) privacy.Loss {
	if _, pure := limit.Pure(); pure {
		return limit
	}
	rho, _ := limit.ZCDP()
	all, delta := b.Loss.ZCDP()
	if share {
		part := rho.Rat()
		delta, _ = privacy.DeltaOf(part.Mul(part.Quo(part, all.Rat()), delta.Rat())) // of at most 1
	}
	return privacy.ZCDPLoss(rho, delta)
}

// limitOf reads 20%, 0.5, {share: 20%}, {epsilon: 0.5} or {rho: 0.01}, and says which are shares.
func (f field) limitOf(b Budget) (limit privacy.Loss, share, ok bool) {
	if f.present() && f.node.Kind == yaml.MappingNode && len(f.node.Content) == 2 && f.node.Content[0].Value != "rho" {
		keys, _ := f.keys("share", "epsilon", "rho")
		if keys["share"].present() {
			if text, ok := keys["share"].text(); ok && !strings.HasSuffix(text, "%") {
				keys["share"].fail("as in 20%", "not a share of the budget")
				return privacy.Loss{}, false, false
			}
			limit, ok = keys["share"].price(b)
			return limit, true, ok
		}
		limit, ok = keys["epsilon"].price(b)
		return limit, false, ok
	}
	limit, ok = f.price(b)
	return limit, f.present() && f.node.Kind == yaml.ScalarNode && strings.HasSuffix(strings.TrimSpace(f.node.Value), "%"), ok
}

func limitsText(limits map[string]privacy.Loss) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		out = append(out, fmt.Sprintf("%s: %s", name, limits[name]))
	}
	return out
}

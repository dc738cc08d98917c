package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"dither/privacy"
)

// maxAnalysts is the largest number of analysts that a policy may list.
const maxAnalysts = 1000

// analysts reads the authorised analysts, and the limit of each: a share of the whole budget (20%), an ε, or {rho:
// …}. The limits do not change the privacy guarantee, because analysts may share what they learn. Only the budget
// guarantees privacy.
func (r *reader) analysts(f field, b Budget) map[string]privacy.Loss {
	if !f.present() || b.Loss.IsZero() {
		return nil
	}
	whole := b
	whole.Grant = Grant{}
	out := map[string]privacy.Loss{}
	entries := f.entries()
	if len(entries) == 0 || len(entries) > maxAnalysts {
		f.failKey("", "must list between 1 and %d analysts", maxAnalysts)
		return nil
	}
	names := map[string]string{}
	for _, e := range entries {
		e.unique(names)
		if !identifier.MatchString(e.key.Value) {
			e.failKey("", "must be a letter or _ followed by at most 62 letters, digits, _ or -")
		}
		limit, ok := e.limitOf(whole)
		if ok && !limit.Within(b.Loss) {
			e.fail("", "is above the budget (%v)", b.Loss)
		}
		out[e.key.Value] = limit
	}
	return out
}

// limitOf reads a limit: 20%, 0.5, {share: 20%}, {epsilon: 0.5} or {rho: 0.01}. A share also applies to the δ that
// the budget reserves for private key selection. An ε or a ρ does not limit δ below the budget's own δ.
func (f field) limitOf(b Budget) (privacy.Loss, bool) {
	if f.present() && f.node.Kind == yaml.MappingNode && len(f.node.Content) == 2 && f.node.Content[0].Value != "rho" {
		keys, _ := f.keys("share", "epsilon", "rho")
		if keys["share"].present() {
			if text, ok := keys["share"].text(); ok && !strings.HasSuffix(text, "%") {
				keys["share"].fail("write, for example, 20%", "not a share of the budget")
				return privacy.Loss{}, false
			}
			return keys["share"].limit(b)
		}
		return keys["epsilon"].limit(b)
	}
	return f.limit(b)
}

// limit reads a limit in the form of a price, and adds the δ that limitOf describes.
func (f field) limit(b Budget) (privacy.Loss, bool) {
	l, ok := f.price(b)
	_, kept := b.Loss.ZCDP()
	if !ok || kept.IsZero() {
		return l, ok
	}
	if f.node.Kind != yaml.MappingNode && strings.HasSuffix(f.node.Value, "%") {
		part, err := percentage(f.node.Value)
		if err != nil { // price has already reported the error
			return l, false
		}
		kept, _ = privacy.DeltaOf(part.Mul(part, kept.Rat())) // no error: the share is at most 1
	}
	rho, _ := l.ZCDP()
	return privacy.ZCDPLoss(rho, kept), true
}

func limitsText(limits map[string]privacy.Loss) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		out = append(out, fmt.Sprintf("%s: %s", name, limits[name]))
	}
	return out
}

package audit

import (
	"maps"
	"slices"
)

// single returns the single output that [rareBound] is expected to show most of, if it is likelier on a given side. It
// counts outputs in both samples: a single output is not fitted to either, and a rare one has only a few runs in each.
func (a *audit) single(whole feature, learned, compared sample, tests int, likely Side) (best event) {
	both := sample{slices.Concat(learned[0], compared[0]), slices.Concat(learned[1], compared[1])}
	guess := a.guesser([2]int{len(both[0]), len(both[1])}, tests)
	all := learnTokens(whole, both)
	for _, token := range slices.Sorted(maps.Keys(all.tokens)) {
		s := all.tokens[token]
		p := guess(s.counts[likely], s.counts[likely.Other()], likely)
		if p.hope > best.promise.hope && s.ratio != 0 { // a ratio of 0 is that of all other outputs
			one := &parts{feature: whole, tokens: map[string]share{token: s}, runs: all.runs}
			best = event{one, s.ratio > 0, s.ratio, likely, whole, noCandidate, p, false}
		}
	}
	return best
}

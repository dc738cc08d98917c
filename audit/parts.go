package audit

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// parts is the log-likelihood ratio of the parts of a range: of tokens, and of bins of numbers. What is likelier on Data is above 0.
type parts struct {
	feature
	tokens map[string]share
	edges  []float64 // ascending: bin i is from edges[i−1] to below edges[i]
	bins   []share   // one more than edges, or none at all: then numbers are tokens too
	runs   [2]int
}

// share is how often a part was seen on each side, and its log-likelihood ratio.
type share struct {
	counts [2]int
	ratio  float64
}

// The number of bins, and of the tokens that are told apart.
const (
	mostBins    = 40
	binRuns     = 60 // on a side, for each bin
	mostSymbols = 12 // distinct numbers up to which each is a bin
)

// learnParts cuts a feature's range: numbers into bins, of which each holds about as many, and words into themselves.
func learnParts(f feature, s sample) *parts { return cutInto(mostBins, f, s) }

// cutInto cuts a range into so many bins at most.
func cutInto(bins int, f feature, s sample) *parts {
	p := &parts{feature: f, tokens: map[string]share{}, runs: [2]int{len(s[0]), len(s[1])}}
	var numbers [2][]float64
	for side := range s {
		for i := range s[side] {
			x := f.of(&s[side][i])
			if x.is == numeric {
				numbers[side] = append(numbers[side], x.number)
				continue
			}
			p.count(x.key(), side)
		}
	}
	if all := slices.Concat(numbers[0], numbers[1]); len(all) > 0 {
		slices.Sort(all)
		p.cut(all, min(bins, 2+len(all)/2/binRuns))
		p.bins = make([]share, len(p.edges)+1)
		for side := range numbers {
			for _, x := range numbers[side] {
				p.bins[p.bin(x)].counts[side]++
			}
		}
	}
	p.rate()
	return p
}

// learnTokens takes each text for itself.
func learnTokens(f feature, s sample) *parts {
	p := &parts{feature: f, tokens: map[string]share{}, runs: [2]int{len(s[0]), len(s[1])}}
	for side := range s {
		for i := range s[side] {
			p.count(f.of(&s[side][i]).key(), side)
		}
	}
	p.rate()
	return p
}

func (p *parts) count(token string, side int) {
	t := p.tokens[token]
	t.counts[side]++
	p.tokens[token] = t
}

// cut chooses the edges between sorted numbers.
func (p *parts) cut(sorted []float64, bins int) {
	distinct := slices.Compact(slices.Clone(sorted))
	if len(distinct) <= max(bins, mostSymbols) {
		for i := 1; i < len(distinct); i++ {
			p.edges = append(p.edges, shortest(distinct[i-1], distinct[i]))
		}
		return
	}
	for i := 1; i < bins; i++ {
		at := sorted[i*len(sorted)/bins]
		j, _ := slices.BinarySearch(distinct, at)
		if j == 0 || len(p.edges) > 0 && p.edges[len(p.edges)-1] > distinct[j-1] {
			continue
		}
		p.edges = append(p.edges, shortest(distinct[j-1], at))
	}
}

// shortest is the number with the fewest digits above low and up to high.
func shortest(low, high float64) float64 {
	for digits := range 16 {
		unit := math.Pow(10, math.Floor(math.Log10(math.Max(math.Abs(low), math.Abs(high))))-float64(digits))
		if x := shorten(math.Floor(high/unit) * unit); x > low && x <= high {
			return x
		}
	}
	return high
}

func (p *parts) bin(x float64) int {
	i, found := slices.BinarySearch(p.edges, x)
	if found {
		i++
	}
	return i
}

// rate computes the ratios. One is added to each count, so that what was seen seldom says little.
func (p *parts) rate() {
	per := math.Log(float64(p.runs[1]+1) / float64(p.runs[0]+1))
	rate := func(s *share) { s.ratio = math.Log(float64(s.counts[0]+1)/float64(s.counts[1]+1)) + per }
	for k, s := range p.tokens {
		rate(&s)
		p.tokens[k] = s
	}
	for i := range p.bins {
		rate(&p.bins[i])
	}
}

func (p *parts) of(o *output) float64 {
	f := p.feature.of(o)
	if f.is == numeric && p.bins != nil {
		return p.bins[p.bin(f.number)].ratio
	}
	return p.tokens[f.key()].ratio // 0 of what was never seen
}

// tells is how far the parts tell the sides apart: the total variation between them, as counted.
func (p *parts) tells() float64 {
	sum := 0.0
	add := func(s share) {
		sum += math.Abs(float64(s.counts[0])/float64(max(1, p.runs[0])) - float64(s.counts[1])/float64(max(1, p.runs[1])))
	}
	for _, s := range p.tokens {
		add(s)
	}
	for _, s := range p.bins {
		add(s)
	}
	return sum / 2
}

// repeats reports that some token was seen often enough to be learned from.
func (p *parts) repeats() bool {
	for _, s := range p.tokens {
		if s.counts[0]+s.counts[1] >= 4 {
			return true
		}
	}
	return false
}

// The most pieces of a range that are written out.
const mostPieces = 6

func (p *parts) event(atLeast bool, t float64) string {
	in := func(s share) bool { return atLeast && s.ratio >= t || !atLeast && s.ratio <= t }
	unseen := atLeast && 0 >= t || !atLeast && 0 <= t
	var pieces []string
	for i := 0; i < len(p.bins); i++ {
		if !in(p.bins[i]) {
			continue
		}
		from := i
		for i+1 < len(p.bins) && in(p.bins[i+1]) {
			i++
		}
		pieces = append(pieces, p.stretch(from, i))
	}
	listed := func(wanted bool) (out []string) {
		for token, s := range p.tokens {
			if in(s) == wanted {
				out = append(out, token)
			}
		}
		slices.SortFunc(out, func(a, b string) int {
			x, y := p.tokens[a].counts, p.tokens[b].counts
			return cmp.Or(cmp.Compare(y[0]+y[1], x[0]+x[1]), strings.Compare(a, b))
		})
		return out
	}
	if unseen {
		if others := listed(false); len(others) > 0 {
			pieces = append(pieces, "is none of "+list(others))
		} else if len(p.bins) == 0 {
			return p.name + " is anything"
		}
	} else if tokens := listed(true); len(tokens) == 1 {
		pieces = append(pieces, "is "+token(tokens[0]))
	} else if len(tokens) > 1 {
		pieces = append(pieces, "is one of "+list(tokens))
	}
	if n := len(pieces); n > mostPieces {
		pieces = append(pieces[:mostPieces-1], "is in another of "+number(float64(n-mostPieces+1))+" such parts")
	}
	if len(pieces) == 0 {
		return p.name + " is nothing that was seen"
	}
	return p.name + " " + strings.Join(pieces, " or ")
}

// stretch writes bins from..to as one interval.
func (p *parts) stretch(from, to int) string {
	switch {
	case from == 0 && to == len(p.edges):
		return "is a number"
	case from == 0:
		return "is < " + number(p.edges[to])
	case to == len(p.edges):
		return "is ≥ " + number(p.edges[from-1])
	}
	return "is in [" + number(p.edges[from-1]) + ", " + number(p.edges[to]) + ")"
}

func token(text string) string {
	if text == "" {
		return "empty"
	}
	return quote(text)
}

func list(tokens []string) string {
	more := ""
	if n := len(tokens) - mostPieces; n > 0 {
		tokens, more = tokens[:mostPieces], " or "+number(float64(n))+" others"
	}
	texts := make([]string, len(tokens))
	for i, t := range tokens {
		texts[i] = token(t)
	}
	return strings.Join(texts, ", ") + more
}

// histogram is what the parts show, at most so many of them.
func (p *parts) histogram(most int) Histogram {
	h := Histogram{Of: p.name, Runs: p.runs}
	add := func(name string, s share) {
		h.Parts = append(h.Parts, name)
		for side := range h.Counts {
			h.Counts[side] = append(h.Counts[side], s.counts[side])
		}
	}
	for i, s := range p.bins {
		add(strings.TrimPrefix(strings.TrimPrefix(p.stretch(i, i), "is "), "in "), s)
	}
	tokens := slices.SortedFunc(maps.Keys(p.tokens), func(a, b string) int {
		x, y := p.tokens[a].counts, p.tokens[b].counts
		return cmp.Or(cmp.Compare(y[0]+y[1], x[0]+x[1]), strings.Compare(a, b))
	})
	var others share
	for i, t := range tokens {
		if len(p.bins)+i < most-1 || len(p.bins)+len(tokens) <= most {
			add(token(t), p.tokens[t])
			continue
		}
		for side := range others.counts {
			others.counts[side] += p.tokens[t].counts[side]
		}
	}
	if others.counts != [2]int{} {
		add("others", others)
	}
	return h
}

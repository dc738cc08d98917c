package audit

import (
	"math"
	"slices"
)

// parts is the log-likelihood ratio of the parts of a range: of tokens, and of bins of numbers. It is positive for
// parts that are likelier on Data.
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

// The limits on bins, and on distinguished tokens.
const (
	mostBins    = 40
	binRuns     = 60 // on a side, for each bin
	mostSymbols = 12 // distinct numbers up to which each is a bin
)

// learnParts divides a feature's range: numbers into bins of about equal counts, and words into single words.
func learnParts(f feature, s sample) *parts { return cutInto(mostBins, f, s) }

// cutInto divides a range into at most n bins.
func cutInto(bins int, f feature, s sample) *parts {
	p := &parts{feature: f, tokens: map[string]share{}, runs: [2]int{len(s[0]), len(s[1])}}
	var numbers [2][]float64
	for side := range s {
		for i := range s[side] {
			switch x := f.of(&s[side][i]); x.is {
			case numeric:
				numbers[side] = append(numbers[side], x.number)
			case outside:
			default:
				p.count(x.key(), side)
			}
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
			if x := f.of(&s[side][i]); x.is != outside {
				p.count(x.key(), side)
			}
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
			return x + 0 // never −0
		}
	}
	return high + 0
}

func (p *parts) bin(x float64) int {
	i, found := slices.BinarySearch(p.edges, x)
	if found {
		i++
	}
	return i
}

// rate computes the ratio. It adds one to each count, so that rare parts carry little weight.
func (s *share) rate(runs [2]int) {
	s.ratio = math.Log(float64(s.counts[0]+1)/float64(s.counts[1]+1)) + math.Log(float64(runs[1]+1)/float64(runs[0]+1))
}

// rate computes the ratios of all parts.
func (p *parts) rate() {
	for k, s := range p.tokens {
		s.rate(p.runs)
		p.tokens[k] = s
	}
	for i := range p.bins {
		p.bins[i].rate(p.runs)
	}
}

func (p *parts) of(o *output) float64 {
	f := p.feature.of(o)
	switch {
	case f.is == outside:
		return math.NaN()
	case f.is == numeric && p.bins != nil:
		return p.bins[p.bin(f.number)].ratio
	}
	return p.tokens[f.key()].ratio // 0 of what was never seen
}

// tells is how far the parts distinguish the sides: the total variation distance of the counts.
func (p *parts) tells() float64 {
	sum := 0.0
	add := func(s share) {
		sum += math.Abs(
			float64(s.counts[0])/float64(max(1, p.runs[0])) - float64(s.counts[1])/float64(max(1, p.runs[1])))
	}
	for _, s := range p.tokens {
		add(s)
	}
	for _, s := range p.bins {
		add(s)
	}
	return sum / 2
}

// repeats reports whether some token was seen often enough to learn from it.
func (p *parts) repeats() bool {
	for _, s := range p.tokens {
		if s.counts[0]+s.counts[1] >= 4 {
			return true
		}
	}
	return false
}

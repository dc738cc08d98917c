package audit

import (
	"math"
	"slices"
)

// parts is a score: the log-likelihood ratios of the parts of a feature's range. Parts are tokens (texts) and bins
// of numbers. The ratio is positive for parts that are more frequent on Data.
type parts struct {
	feature
	tokens map[string]share
	edges  []float64 // ascending; bin i holds the numbers from edges[i−1] up to, but not including, edges[i]
	bins   []share   // one more than edges; nil if numbers are counted as tokens
	runs   [2]int
}

// share counts the runs of each side in which a part was seen, and holds its log-likelihood ratio.
type share struct {
	counts [2]int
	ratio  float64
}

// The limits on the bins into which a feature's numbers are divided.
const (
	mostBins    = 40
	binRuns     = 60 // numbers per bin, on each side
	mostSymbols = 12 // at most this many distinct numbers get a bin each
)

// learnParts divides a feature's range into parts: numbers into bins of about equal counts, and each word into a
// part of its own.
func learnParts(f feature, s sample) *parts { return cutInto(mostBins, f, s) }

// cutInto divides the numbers of a feature's range into bins, and counts each word as a token. There are at most as
// many bins as given, and fewer if the sample is small. But up to mostSymbols distinct numbers always get a bin
// each.
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

// learnTokens counts each distinct value of a feature as a token, including numbers.
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

// cut chooses the edges of the bins from the sorted numbers of both sides.
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

// shortest returns a number with few digits that is above low, and at most high.
func shortest(low, high float64) float64 {
	for digits := range 16 {
		unit := math.Pow(10, math.Floor(math.Log10(math.Max(math.Abs(low), math.Abs(high))))-float64(digits))
		if x := shorten(math.Floor(high/unit) * unit); x > low && x <= high {
			return x + 0 // adding 0 turns −0 into 0
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

// rate computes the part's log-likelihood ratio. It adds 1 to each count, so that rare parts carry little weight.
func (s *share) rate(runs [2]int) {
	s.ratio = math.Log(float64(s.counts[0]+1)/float64(s.counts[1]+1)) + math.Log(float64(runs[1]+1)/float64(runs[0]+1))
}

// rate computes the log-likelihood ratios of all parts.
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
	return p.tokens[f.key()].ratio // 0 for a token that was not seen while learning
}

// tells returns the total variation distance between the two sides' relative frequencies of the parts.
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

// repeats reports whether some token was seen at least four times.
func (p *parts) repeats() bool {
	for _, s := range p.tokens {
		if s.counts[0]+s.counts[1] >= 4 {
			return true
		}
	}
	return false
}

package regression

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
)

const (
	// The bound on a score in multiples of its guessed spread lies between these. A longer score is shortened.
	fewScoreSpreads, manyScoreSpreads = 3, 10
	// Of one score, between so many squares of the bound count as cut.
	leastLost, mostLost = 3, 24
	// withinUnit is the correlation within a unit that the guess of the spread assumes.
	withinUnit = 0.5
)

// bound returns the bound on the norm of a score: spreads times the guessed spread of scores, for residuals with
// a standard deviation of spread and predictors of the given norm.
func (k *clustering) bound(spreads, spread, norm float64) string {
	bound := spreads * norm * spread
	if k.units {
		bound *= math.Sqrt(guessedSize(k.most))
	}
	if k.longest > 0 {
		bound = math.Min(bound, 1.01*k.longest)
	}
	bound, err := strconv.ParseFloat(strconv.FormatFloat(bound, 'e', 3, 64), 64)
	if err != nil || !(bound > 1e-6) {
		bound = 1e-6
	}
	return strconv.FormatFloat(bound, 'f', -1, 64)
}

// guessedSize returns the guessed square of a score of a unit with so many rows, in terms of that of one row.
func guessedSize(rows float64) float64 {
	rows = math.Max(1, rows)
	return rows * (1 + (rows-1)*withinUnit)
}

// spreadsFor returns the bound on scores in multiples of their spread, for noise of the given size, relative to Σ‖s‖², at
// a bound of one spread. It leaves the noise at three thousandths, or if that would cut common scores, at fewScoreSpreads.
func spreadsFor(noise float64) float64 {
	return math.Sqrt(math.Max(fewScoreSpreads*fewScoreSpreads, math.Min(manyScoreSpreads*manyScoreSpreads, 0.003/noise)))
}

// lostFor returns how many squares of the bound count as cut of one score, for noise of the given size on what is cut,
// relative to Σ‖s‖², if one square counts. It leaves the noise at six hundredths.
func lostFor(noise float64) float64 {
	return math.Floor(math.Max(leastLost, math.Min(mostLost, 0.06/noise)))
}

// sized returns the bound on scores in multiples of their guessed spread, and how many squares of the bound count as cut
// of one score, for a fit with so many rows. rows is 0 if noise hides their number.
func (k *clustering) sized(rows float64) (spreads, lost float64) {
	switch {
	case rows <= 0:
		return fewScoreSpreads, leastLost
	case !k.units:
		return spreadsFor(k.noise * k.noise * float64(k.values()) / rows), leastLost
	}
	each := guessedSize(k.most) / rows
	spreads = spreadsFor(k.noise * each)
	return spreads, lostFor(k.lostNoise * each * spreads * spreads)
}

// at returns the question about the scores at the released coefficients gamma of a fit with so many rows, for predictors
// of the given norm and residuals of the given spread. rows is 0 if noise hides their number.
func (k *clustering) at(gamma []float64, rows, norm, spread float64) curator.Vectors {
	spreads, lost := k.sized(rows)
	return k.scores(gamma, k.bound(spreads, spread, norm), lost)
}

// scores returns the question about the scores at the coefficients gamma: for units Σ s sᵀ, the number of units, and
// the sum of what longer scores lose by the bound; for values of a column the sum of scores and the number of rows of
// each value. Of one score, at most lost times the square of the bound counts as cut.
func (k *clustering) scores(gamma []float64, bound string, lost float64) curator.Vectors {
	var names, rows, scores, squares, linear []string
	for i, column := range k.design.Columns {
		z := fmt.Sprintf("z%d", i+1)
		g := strconv.FormatFloat(math.Max(-k.far, math.Min(k.far, gamma[i])), 'f', 7, 64)
		linear = append(linear, g+" * "+z)
		rows = append(rows, column.SQL+" AS "+z)
		names = append(names, z)
		scores = append(scores, z+" * e")
		squares = append(squares, fmt.Sprintf("s%d * s%d", i+1, i+1))
	}
	from := fmt.Sprintf("(SELECT u, %s, %s AS e FROM (SELECT %s AS u, %s, %s AS v FROM %s%s) AS r) AS r",
		strings.Join(names, ", "), k.residual(strings.Join(linear, " + ")), curator.SQLName(k.column),
		strings.Join(rows, ", "), k.response, curator.SQLName(k.design.Table), request.Where(k.where))
	out := curator.Vectors{Request: k.price}
	block := curator.Block{Size: len(scores), Norm: curator.L2, Bound: bound}
	if !k.units {
		out.SQL = "SELECT " + strings.Join(scores, ", ") + " FROM " + from + " GROUP BY u"
		out.Blocks = []curator.Block{block}
		out.Sums = []curator.Sum{curator.First(0).Weighing("9"), curator.Count()}
		return out
	}
	var sums, units []string
	for i, s := range scores {
		name := fmt.Sprintf("s%d", i+1)
		units = append(units, name)
		sums = append(sums, "SUM("+s+") AS "+name)
	}
	c := boundOf(bound)
	square := new(big.Rat).Mul(c, c)
	cut := fmt.Sprintf("LEAST(GREATEST(%s - %s, 0), %s)", strings.Join(squares, " + "), exact.FormatRat(square),
		exact.FormatRat(new(big.Rat).Mul(square, big.NewRat(int64(math.Round(lost)), 1))))
	out.SQL = fmt.Sprintf("SELECT %s, %s FROM (SELECT u, %s FROM %s GROUP BY u) AS s",
		strings.Join(units, ", "), cut, strings.Join(sums, ", "), from)
	out.Blocks = []curator.Block{block, {Size: 1, Norm: curator.L2}}
	out.Sums = []curator.Sum{curator.Product(0, 0).Weighing("16"), curator.First(1).Weighing("3"), curator.Count()}
	return out
}

// boundOf parses a bound that scoreBound wrote.
func boundOf(text string) *big.Rat {
	c, ok := new(big.Rat).SetString(text)
	if !ok {
		return new(big.Rat)
	}
	return c
}

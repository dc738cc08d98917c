package regression

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// clusterShare is the share of the price that measures the scores of clusters. The coefficients get the rest.
var clusterShare = big.NewRat(1, 4)

const (
	// The bound on a score in multiples of its guessed spread lies between these. A longer score is shortened.
	fewScoreSpreads, manyScoreSpreads = 3, 10
	// Of one score, between so many squares of the bound count as cut.
	leastLost, mostLost = 3, 24
	// withinUnit is the correlation within a unit that the guess of the spread assumes.
	withinUnit = 0.5
	// farCoefficient is the largest scaled coefficient with which residuals are computed. Larger ones are clamped,
	// which makes the residuals larger.
	farCoefficient = 8
)

// clustering measures the scores of the clusters of a regression, after its coefficients γ are released.
//
// Claim: the loss is at most the price of the request. Proof. The fit is one release by [curator.Session.Moments] for
// 1 − clusterShare of the price, and the scores are another for clusterShare. The question about the scores contains
// γ and a bound, which are functions of the first release and of public facts. So the two releases are an adaptive
// composition, whose losses add up. If the clusters are units, the inner question has one row for each unit, the
// unit's score s = Σ z(v − z·γ), which depends on that unit's rows alone. The kernel scales s to the bound and
// checks its norm on integers, so [sensitivity.OfVectors], for one row of a unit, is the sensitivity of Σ s sᵀ. If
// the clusters are values of a column, the question sums the rows' vectors z(v − z·γ) in each value, and rows_per_unit
// rows of a unit count. ∎
type clustering struct {
	column string
	units  bool // the clusters are the privacy units
	price  curator.Request
	told   *curator.MomentsExplanation
	// noise is the standard deviation of the noise at a bound of 1: on Σ s sᵀ, or on the sum of a value's scores.
	// lostNoise is that on what the bound cuts, if 1 is the most that is counted of one score.
	noise, lostNoise float64
}

// cluster divides the price, and plans the fit and the scores, before anything is paid.
func (l *linear) cluster(ctx context.Context, c *curator.Session) error {
	if l.Method == Lecture || l.FindBounds+l.Normalise+l.Choose+l.From != "" {
		return request.Misuse("leave out --cluster, or the others",
			"--cluster supports the method %s, without --find-bounds, --normalise, --choose and --from", AdaSSP)
	}
	k := &clustering{}
	i := slices.IndexFunc(l.table.Columns, func(of curator.TableColumn) bool { return strings.EqualFold(of.Name, l.Cluster) })
	switch {
	case l.table.Through != "":
		return request.Misuse("cluster by a table whose unit is one of its columns",
			"--cluster does not support the table %s, whose rows belong to units through %s", l.table.Name, l.table.Through)
	case i < 0 && (l.table.Unit == "" || !strings.EqualFold(l.table.Unit, l.Cluster)):
		return request.Misuse("", "the table %s has no column %q", l.table.Name, l.Cluster)
	case l.table.Unit != "" && strings.EqualFold(l.table.Unit, l.Cluster):
		k.column, k.units = l.table.Unit, true
	case l.table.Columns[i].Values == nil && l.table.Columns[i].ValuesFrom == "" && l.table.Columns[i].Type != "boolean":
		return request.Misuse("name the unit's column, or a column with declared values",
			"the clusters must be the privacy units or the declared values of a column: the values of %s are not declared",
			l.table.Columns[i].Name)
	default:
		k.column = l.table.Columns[i].Name
		l.Where = request.Both(l.Where, declared(l.table.Columns[i]))
	}
	parts, rest, err := request.Divide(l.told.Price, clusterShare)
	if err != nil {
		return err
	}
	whole := l.told
	k.price = request.At(l.Request, parts[0])
	l.Request = request.At(l.Request, rest)
	if err := l.plan(ctx, c); err != nil {
		return request.Partly(err)
	}
	l.clustered, l.whole = k, whole
	far := slices.Repeat([]float64{-farCoefficient}, len(l.design.Columns))
	bound := l.scoreBound(fewScoreSpreads, 1, l.mostNorm())
	if k.told, err = c.ExplainMoments(ctx, l.scores(far, bound, leastLost)); err != nil {
		return request.Partly(err)
	}
	unit, _ := k.told.Sums[0].Unit.Float64()
	size, _ := boundOf(bound).Float64()
	k.noise = k.told.Sums[0].Noise.StdDev() * unit / size
	if k.units {
		k.noise /= size
		unit, _ = k.told.Sums[1].Unit.Float64()
		k.lostNoise = k.told.Sums[1].Noise.StdDev() * unit / (leastLost * size * size)
	}
	if !k.units && k.values() < 2 {
		return request.Misuse("", "%s has fewer than two values, and errors need at least two clusters", k.column)
	}
	if l.told.Replayed {
		// the coefficients are known, so it is known whether the scores were released too
		m, err := c.Moments(ctx, l.vectors)
		if err != nil {
			return err
		}
		if of, ok := l.scoresAfter(m); ok {
			if k.told, err = c.ExplainMoments(ctx, of); err != nil {
				return request.Partly(err)
			}
		}
	}
	return nil
}

// declared returns the condition that a row has one of the declared values of a column. The scores are grouped by these
// values, so the coefficients may not depend on other rows.
func declared(of curator.TableColumn) string {
	name := curator.SQLName(of.Name)
	switch {
	case of.ValuesFrom != "":
		table, column, _ := strings.Cut(of.ValuesFrom, ".")
		return fmt.Sprintf("%s IN (SELECT %s FROM %s)", name, curator.SQLName(column), curator.SQLName(table))
	case of.Values == nil:
		return name + " IS NOT NULL"
	}
	return name + " IN (" + strings.Join(formula.Constants(of, of.Values), ", ") + ")"
}

// payable returns an error if the remaining budget does not cover the fit and the scores together.
func (l *linear) payable() error {
	var unpaid []curator.Loss
	for _, told := range []*curator.MomentsExplanation{l.told, l.clustered.told} {
		if !told.Replayed {
			unpaid = append(unpaid, told.Price)
		}
	}
	if len(unpaid) == 0 || request.Affordable(l.told.Remaining, unpaid...) {
		return nil
	}
	return request.Exhausted("lower it to --epsilon "+l.told.Largest+" or less",
		"the price of the fit and of the clusters", l.whole.Price, l.told.Remaining)
}

// mostNorm is the largest L₂ norm of a row's predictors.
func (l *linear) mostNorm() float64 {
	most, _ := l.design.MostOfL2.Float64()
	return most
}

// scoreBound returns the bound on the norm of a score: spreads times the guessed spread of scores, for residuals with
// a standard deviation of spread and predictors of the given norm.
func (l *linear) scoreBound(spreads, spread, norm float64) string {
	bound := spreads * norm * spread
	if l.clustered.units {
		bound *= math.Sqrt(guessedSize(float64(l.told.Unit.MaxRows)))
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

// scoresAfter returns the question about the scores after the release m of the fit. ok is false if m determines no
// coefficients.
func (l *linear) scoresAfter(m *curator.Moments) (of curator.Vectors, ok bool) {
	q := l.equations(m)
	q.size = q.noise.norm(plain(len(q.b)), 0)
	s, ok := q.solve(true)
	if !ok {
		return of, false
	}
	most := l.mostNorm()
	norm, spreads, lost := most, float64(fewScoreSpreads), float64(leastLost)
	if q.rows > 3*math.Sqrt(q.noise.rows) {
		total := 0.0
		for i := range q.b {
			total += math.Max(0, q.a.At(i, i))
		}
		norm = math.Max(0.05*most, math.Min(most, math.Sqrt(total/q.rows)))
		if k := l.clustered; k.units {
			each := guessedSize(float64(l.told.Unit.MaxRows)) / q.rows
			spreads = spreadsFor(k.noise * each)
			lost = lostFor(k.lostNoise * each * spreads * spreads)
		} else {
			spreads = spreadsFor(k.noise * k.noise * float64(k.values()) / q.rows)
		}
	}
	return l.scores(s.gamma, l.scoreBound(spreads, math.Sqrt(math.Max(1e-6, s.spread())), norm), lost), true
}

// scores returns the question about the scores at the coefficients gamma: for units Σ s sᵀ, the number of units, and
// the sum of what longer scores lose by the bound; for values of a column the sum of scores and the number of rows of
// each value. Of one score, at most lost times the square of the bound counts as cut.
func (l *linear) scores(gamma []float64, bound string, lost float64) curator.Vectors {
	var names, rows, scores, squares, residual []string
	for i, column := range l.design.Columns {
		z := fmt.Sprintf("z%d", i+1)
		g := strconv.FormatFloat(math.Max(-farCoefficient, math.Min(farCoefficient, gamma[i])), 'f', 7, 64)
		residual = append(residual, g+" * "+z)
		rows = append(rows, column.SQL+" AS "+z)
		names = append(names, z)
		scores = append(scores, z+" * e")
		squares = append(squares, fmt.Sprintf("s%d * s%d", i+1, i+1))
	}
	response, _, _ := l.design.Response.Scaled(l.design.Formula.Intercept)
	key := curator.SQLName(l.clustered.column)
	from := fmt.Sprintf("(SELECT u, %s, v - (%s) AS e FROM (SELECT %s AS u, %s, %s AS v FROM %s%s) AS r) AS r",
		strings.Join(names, ", "), strings.Join(residual, " + "), key, strings.Join(rows, ", "), response,
		curator.SQLName(l.design.Table), request.Where(l.Where))
	out := curator.Vectors{Request: l.clustered.price}
	block := curator.Block{Size: len(scores), Norm: curator.L2, Bound: bound}
	if !l.clustered.units {
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

// values returns how many values of the column can have rows.
func (k *clustering) values() int { return len(valuesWithRows(len(k.told.Cells), k.told.Possible)) }

// names returns the names of the sums in a question about scores.
func (k *clustering) names() []string {
	if k.units {
		return []string{"Σ s sᵀ", "Σ cut", "clusters"}
	}
	return []string{"Σ z e by cluster", "rows by cluster"}
}

// fitClustered fits the regression, and then measures the scores of its clusters.
func (l *linear) fitClustered(ctx context.Context, c *curator.Session) (*LinearFit, error) {
	if err := l.payable(); err != nil {
		return nil, err
	}
	m, err := c.Moments(ctx, l.vectors)
	if err != nil {
		return nil, err
	}
	price, releases := l.told.Price, []string{m.ID}
	if of, ok := l.scoresAfter(m); ok {
		if l.scored, err = c.Moments(ctx, of); err != nil {
			return nil, request.Stopped(err, releases...)
		}
		price, releases = l.whole.Price, append(releases, l.scored.ID)
	}
	out, err := l.fit(m)
	if err != nil {
		return nil, request.Stopped(err, releases...)
	}
	out.Price, out.Releases = price, releases
	if l.scored != nil {
		out.Remaining, out.Replayed = l.scored.Remaining, out.Replayed && l.scored.Replayed
		for i, s := range l.scored.Sums {
			out.Measured = append(out.Measured, linearSum(l.clustered.names()[i], l.clustered.units && i == 0, s))
		}
	}
	return out, nil
}

// enterClusters gives the intervals the scores of the clusters.
func (l *linear) enterClusters(out *LinearFit, q *normalEquations, v *inverter) {
	k := l.clustered
	if k == nil {
		return
	}
	out.Cluster, v.unknown = k.column, true
	if l.scored == nil {
		return
	}
	m, ok := k.meatOf(l.scored, len(q.b), q.rows, l.told.Unit.MaxRows, l.alpha)
	if !ok {
		out.warn("Fewer than two clusters have rows, so the errors are unknown.")
		return
	}
	v.meat, v.unknown = m, false
	out.Clusters = &m.clusters
	if k.units {
		out.ClustersError = &m.error
	}
	if m.cut > 0.1 {
		out.warn(fmt.Sprintf("A few clusters have very long scores: about %.0f %% of the errors' size is estimated from how "+
			"far they exceed a bound.", 100*m.cut))
	}
	if m.freedom < 19 {
		out.warn("There may be fewer than 20 clusters: the errors are then rough, and the intervals rely on clusters of " +
			"similar size.")
	}
}

// explainClusters adds the clusters to an explanation.
func (l *linear) explainClusters(out *LinearExplanation) {
	k := l.clustered
	if !k.units {
		out.Notes = append(out.Notes, "Rows without a declared value of "+k.column+
			" are left out, of the coefficients and of their errors.")
	}
	for i, s := range k.told.Sums {
		out.Sums = append(out.Sums, linearSum(k.names()[i], k.units && i == 0, s))
	}
	out.Quoted = Quoted{l.whole.Price, l.told.Remaining, l.payable() == nil, l.told.Largest}
	out.Replayed = l.told.Replayed && k.told.Replayed
	out.Notes = append(out.Notes, fmt.Sprintf("A quarter of the price, %s, measures the scores of the clusters of %s.",
		k.told.Price, k.column))
	if !l.told.Replayed {
		out.Notes = append(out.Notes, "The stated noise of the scores is for a residual error as large as half the "+
			"response's range. The released residual error sets a smaller bound on scores.")
	}
	if k.units {
		out.Notes = append(out.Notes, "A cluster's score counts all stored rows of its unit, the coefficients those that "+
			"count in one answer.")
	}
}

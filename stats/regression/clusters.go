package regression

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// clusterShare is the share of the price that measures the scores of clusters. The coefficients get the rest.
var clusterShare = big.NewRat(1, 4)

// clustering measures the scores of the clusters of a regression, after its coefficients γ are released. The score of a
// cluster is Σ z e over its rows: their predictors z times their residuals e at γ, which is the gradient of the fit's loss
// up to its sign.
//
// Claim: the loss is at most the price of the request. Proof. The releases of the fit cost together 1 − clusterShare of
// the price, and the scores are another release for clusterShare, by [curator.Session.Moments]. The question about the
// scores contains γ and a bound, which are functions of the earlier releases and of public facts. So the releases are an
// adaptive composition, whose losses add up. If the clusters are units, the inner question has one row for each unit,
// the unit's score s, which depends on that unit's rows alone, whatever the residual is. The kernel scales s to the bound
// and checks its norm on integers, so [sensitivity.OfVectors], for one row of a unit, is the sensitivity of Σ s sᵀ. If
// the clusters are values of a column, the question sums the rows' vectors z e in each value, and rows_per_unit rows of a
// unit count. ∎
type clustering struct {
	column string
	units  bool // the clusters are the privacy units
	price  curator.Request
	told   *curator.MomentsExplanation
	// noise is the standard deviation of the noise at a bound of 1: on Σ s sᵀ, or on the sum of a value's scores.
	// lostNoise is that on what the bound cuts, if 1 is the most that is counted of one score.
	noise, lostNoise float64

	design   *formula.Design
	where    string
	most     float64 // the most rows of a unit that count for the coefficients
	response string  // the SQL of the response v
	// residual returns the SQL of the residual of a response v whose linear predictor z·γ is given, in SQL
	residual func(linear string) string
	far      float64 // the largest coefficient with which residuals are computed
	typical  float64 // the spread of residuals if the fit does not tell it; only for generalized linear models
	longest  float64 // the largest norm that a unit's score can have; 0 if the bounds do not limit it
}

// newClustering returns the clustering by a column of a table, and the condition on rows with a cluster that also meet
// the given one.
func newClustering(t curator.Table, column, where string) (k *clustering, condition string, err error) {
	k = &clustering{}
	i := slices.IndexFunc(t.Columns, func(of curator.TableColumn) bool { return strings.EqualFold(of.Name, column) })
	switch {
	case t.Through != "":
		return nil, "", request.Misuse("cluster by a table whose unit is one of its columns",
			"--cluster does not support the table %s, whose rows belong to units through %s", t.Name, t.Through)
	case i < 0 && (t.Unit == "" || !strings.EqualFold(t.Unit, column)):
		return nil, "", request.Misuse("", "the table %s has no column %q", t.Name, column)
	case t.Unit != "" && strings.EqualFold(t.Unit, column):
		k.column, k.units = t.Unit, true
	case t.Columns[i].Values == nil && t.Columns[i].ValuesFrom == "" && t.Columns[i].Type != "boolean":
		return nil, "", request.Misuse("name the unit's column, or a column with declared values",
			"the clusters must be the privacy units or the declared values of a column: the values of %s are not declared",
			t.Columns[i].Name)
	default:
		k.column = t.Columns[i].Name
		where = request.Both(where, declared(t.Columns[i]))
	}
	return k, where, nil
}

// plan plans the question about the scores, for predictors of the given norm and residuals of the given spread. The
// coefficients, which are not known yet, have placeholders that take as many digits.
func (k *clustering) plan(ctx context.Context, c *curator.Session, norm, spread float64) (err error) {
	for _, term := range k.design.Formula.Terms {
		// an indicator of a cluster makes its score 0, whatever the rows are
		if slices.ContainsFunc(term, func(f formula.Factor) bool { return strings.EqualFold(f.Column, k.column) }) {
			return request.Misuse("leave it out of the formula, or --cluster out",
				"the column %s of the clusters cannot be a predictor: the rows of one cluster do not tell its effect", k.column)
		}
	}
	far := slices.Repeat([]float64{-k.far}, len(k.design.Columns))
	if k.longest > 0 { // below a bound of half the longest score, the score does not limit what the bound can cut
		norm = math.Min(norm, k.longest/(2*fewScoreSpreads*spread*math.Sqrt(guessedSize(k.most))))
	}
	bound := k.bound(fewScoreSpreads, spread, norm)
	if k.told, err = c.ExplainMoments(ctx, k.scores(far, bound, leastLost)); err != nil {
		return request.Partly(err)
	}
	unit, _ := k.told.Sums[0].Unit.Float64()
	size, _ := boundOf(bound).Float64()
	k.noise = k.told.Sums[0].Noise.StdDev() * unit / size
	if k.units {
		k.noise /= size
		unit, _ = k.told.Sums[1].Unit.Float64()
		k.lostNoise = k.told.Sums[1].Noise.StdDev() * unit / (leastLost * size * size)
		return nil
	}
	if p := len(k.design.Columns); k.values() <= p {
		return request.Misuse("leave out terms, or --cluster", "errors need more clusters than coefficients: %s has %d values, and "+
			"the model %d coefficients", k.column, k.values(), p)
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

// values returns how many values of the column can have rows.
func (k *clustering) values() int { return len(valuesWithRows(len(k.told.Cells), k.told.Possible)) }

// sums describes the sums in a question about scores.
func (k *clustering) sums(all []curator.NoisySum) (out []LinearSum) {
	for i, s := range all {
		out = append(out, linearSum(k.names()[i], k.units && i == 0, s))
	}
	return out
}

// notes returns notes for an explanation. known reports that the coefficients were released, and typical states the
// residuals that the stated noise assumes otherwise.
func (k *clustering) notes(known bool, typical string) (all []string) {
	if !k.units {
		all = append(all, "Rows without a declared value of "+k.column+
			" are left out, of the coefficients and of their errors.")
	}
	all = append(all, fmt.Sprintf("A quarter of the price, %s, measures the scores of the clusters of %s.",
		k.told.Price, k.column))
	if !known {
		all = append(all, typical)
	}
	if k.units {
		all = append(all, "A cluster's score counts all stored rows of its unit, the coefficients those that count in "+
			"one answer.")
	}
	return all
}

// fewClusters is the warning of a fit whose clusters determine no errors.
const fewClusters = "Fewer than two clusters have rows, so the errors are unknown."

// Clustered are the clusters of dependent rows for which the errors of a fit allow.
type Clustered struct {
	// Cluster is the column of the clusters; "" if rows are assumed independent. Clusters is their number, which is
	// noisy if they are units, and ClustersError the standard deviation of its noise.
	Cluster       string   `json:"cluster,omitempty"`
	Clusters      *float64 `json:"clusters,omitempty"`
	ClustersError *float64 `json:"clusters_stddev,omitempty"`
}

// tell enters the clusters of a meat, and returns what makes its errors rough.
func (c *Clustered) tell(k *clustering, m *meat) (warnings []string) {
	c.Clusters = &m.clusters
	if k.units {
		c.ClustersError = &m.error
	}
	return m.warnings()
}

// names returns the names of the sums in a question about scores.
func (k *clustering) names() []string {
	if k.units {
		return []string{"Σ s sᵀ", "Σ cut", "clusters"}
	}
	return []string{"Σ z e by cluster", "rows by cluster"}
}

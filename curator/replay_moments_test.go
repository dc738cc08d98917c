package curator

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"dither/audit"
	"dither/internal/plan"
	"dither/internal/release"
	"dither/mechanism"
	"dither/privacy"
)

// vectorQuestions are sums of vectors over the replayed homes.
var vectorQuestions = []Vectors{
	{
		Request: Request{SQL: "SELECT age, change, height FROM people"},
		Blocks:  []Block{{2, L1, ""}, {1, L2, ""}}, Sums: []Sum{Count(), First(0), First(1), Product(0, 0), Product(0, 1)},
	},
	{
		Request: Request{SQL: "SELECT age / 115, change / 10 FROM people GROUP BY region"},
		Blocks:  []Block{{2, L2, "1"}}, Sums: []Sum{Product(0, 0), First(0).Weighing("2.5")},
	},
	{
		Request: Request{SQL: "SELECT cost, 1 FROM visits WHERE day <> 'fri'"},
		Blocks:  []Block{{2, L1, "7.5"}}, Sums: []Sum{Count(), Product(0, 0)},
	},
	{
		Request: Request{SQL: "SELECT cost, cost * cost FROM visits"},
		Blocks:  []Block{{2, L2, ""}}, Sums: []Sum{Count(), First(0)}, Centres: [][]float64{{3, 9}, {4.5, 20}, {10, 100}},
	},
}

// Moments: as Measure (see replayMeasure), with entries off the diagonals of symmetric products counted twice where their noise is Gaussian.
func replayMoments(t *testing.T, relation string, w twins) {
	attained := 0
	for i, q := range vectorQuestions {
		for _, moved := range w.vectors(t, relation, byte(i), q) {
			if moved == 1 {
				attained++
			}
		}
	}
	least := 4
	if strings.HasPrefix(relation, "change-one") { // whose pair is not at both ends of all products
		least = 1
	}
	if !strings.Contains(relation, "NULL") && attained < least {
		t.Errorf("%s: %d sensitivities are attained: these pairs show little", relation, attained)
	}
}

// vectors replays a question about sums of vectors. For each sum, it checks that the output moves by at most what the noise is
// made for, and returns how much of that it moves by: the larger of the shares in L1 and in squared L2 norm.
func (w twins) vectors(t *testing.T, relation string, seed byte, q Vectors) (moved []float64) {
	t.Helper()
	name := relation + ": " + q.SQL
	q.Fresh = true
	of, err := w[audit.Data].moments(q)
	if err != nil {
		t.Fatal(name, err)
	}
	m := of.Plan()
	var lengths []int
	r := w.replay(t, seed, func(c *Owner) (numbers []*big.Int, err error) {
		got, err := c.Moments(t.Context(), q)
		if err != nil {
			return nil, err
		}
		lengths = nil
		for _, s := range got.Sums {
			n := 0
			for _, cell := range s.Values {
				numbers, n = append(numbers, cell...), n+len(cell)
			}
			lengths = append(lengths, n)
		}
		return numbers, nil
	})
	sameFlow(t, name, r, "reserve", "release")
	x, y := r.Data.Output, r.Neighbor.Output
	for j, s := range m.Sums {
		terms := m.RowVectors.Terms(&s.VectorSum)
		l1, l2squared := new(big.Rat), new(big.Rat)
		for e := range lengths[j] {
			d := new(big.Rat).Sub(x[e], y[e])
			l1.Add(l1, new(big.Rat).Abs(d))
			square := new(big.Rat).Mul(d, d)
			if term := terms[e%len(terms)]; s.Symmetric() && s.Noise == plan.Gaussian && term.A != term.B {
				square.Add(square, square)
			}
			l2squared.Add(l2squared, square)
		}
		x, y = x[lengths[j]:], y[lengths[j]:]
		if l1.Cmp(new(big.Rat).SetInt(s.L1)) > 0 || l2squared.Cmp(new(big.Rat).SetInt(s.L2Squared)) > 0 {
			t.Errorf("%s: %s: apart by %s, squared L2 %s; planned %s, %s", name, s.Name(), l1.FloatString(0), l2squared.FloatString(0), s.L1, s.L2Squared)
		}
		share, _ := l1.Quo(l1, new(big.Rat).SetInt(s.L1)).Float64()
		squares, _ := l2squared.Quo(l2squared, new(big.Rat).SetInt(s.L2Squared)).Float64()
		moved = append(moved, max(share, squares))
	}
	return moved
}

// clusterScores are the questions of fits with clusters, as package regression writes them: Σ s sᵀ over the scores of units,
// what the bound cuts of them, and their number, for the residuals of a linear and of a logistic model; and the sums of the
// scores by the values of a column.
var clusterScores = map[string]Vectors{
	"units, linear": {
		Request: Request{SQL: "SELECT s1, s2, LEAST(GREATEST(s1 * s1 + s2 * s2 - 36, 0), 108) FROM (SELECT u, SUM(z1 * e) AS s1, " +
			"SUM(z2 * e) AS s2 FROM (SELECT u, z1, z2, v - (0.5000000 * z1 + -0.2500000 * z2) AS e FROM (SELECT person AS u, " +
			"1 AS z1, cost / 10.0 AS z2, cost AS v FROM visits) AS r) AS r GROUP BY u) AS s"},
		Blocks: []Block{{2, L2, "6"}, {1, L2, ""}}, Sums: []Sum{Product(0, 0).Weighing("16"), First(1).Weighing("3"), Count()},
	},
	"units, logistic": {
		Request: Request{SQL: "SELECT s1, s2, LEAST(GREATEST(s1 * s1 + s2 * s2 - 1, 0), 3) FROM (SELECT u, SUM(z1 * e) AS s1, " +
			"SUM(z2 * e) AS s2 FROM (SELECT u, z1, z2, CASE WHEN -8.0000000 * z1 + 0.2500000 * z2 IS NOT NULL THEN " +
			"v - 1 / (1 + EXP(-(LEAST(GREATEST(-8.0000000 * z1 + 0.2500000 * z2, -30), 30)))) END AS e FROM (SELECT person AS u, " +
			"1 AS z1, cost / 10.0 AS z2, CASE WHEN cost > 3 THEN 1 ELSE 0 END AS v FROM visits) AS r) AS r GROUP BY u) AS s"},
		Blocks: []Block{{2, L2, "1"}, {1, L2, ""}}, Sums: []Sum{Product(0, 0).Weighing("16"), First(1).Weighing("3"), Count()},
	},
	"values": {
		Request: Request{SQL: "SELECT z1 * e, z2 * e FROM (SELECT u, z1, z2, v - (0.5000000 * z1 + -0.2500000 * z2) AS e FROM " +
			"(SELECT day AS u, 1 AS z1, cost / 10.0 AS z2, cost AS v FROM visits WHERE day IN ('mon', 'tue', 'wed', 'thu', 'fri')) " +
			"AS r) AS r GROUP BY u"},
		Blocks: []Block{{2, L2, "3"}}, Sums: []Sum{First(0).Weighing("9"), Count()},
	},
}

// Scores of clusters: the same reads, charges and records for a person whose score is far beyond the bound, from more rows than
// count elsewhere; and Σ s sᵀ, what the bound cuts, and the number of clusters each move by at most the sensitivity, which the
// pairs attain but for the rounding of vectors.
func TestReplayClusterScores(t *testing.T) {
	for relation, w := range map[string]twins{
		"add-remove":       newTwins(t, pureTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one":       newTwins(t, changeTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
		"add-remove, zCDP": newTwins(t, zcdpTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one, zCDP": newTwins(t, bothTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
	} {
		seed := byte(0)
		for _, kind := range slices.Sorted(maps.Keys(clusterScores)) {
			moved := w.vectors(t, relation, seed, clusterScores[kind])
			seed++
			t.Logf("%s, %s: %.3f of the sensitivities", relation, kind, moved)
			if strings.HasPrefix(relation, "change-one") {
				continue // where the pair is not at both ends, and as many units are in both
			}
			for j, share := range moved {
				if share < 0.9 {
					t.Errorf("%s, %s: sum %d moves by %.3f of the sensitivity: this shows little", relation, kind, j, share)
				}
			}
		}
	}
}

// Moments: the output less the exact sums, which are known, is the noise of mechanisms with parameters that are typed here, on zeros.
func TestMomentsAsPlanned(t *testing.T) {
	rho := must[privacy.Rho](t)(privacy.ParseRho("0.5"))
	half := someEpsilon(t).Share(1, 2)
	laplace := func(e privacy.Epsilon, l1 int64) func(n int) ([]*big.Int, error) {
		return func(n int) ([]*big.Int, error) {
			m, err := mechanism.Laplace{Sensitivity: big.NewInt(l1), Epsilon: e}.Measure(make([]mechanism.Exact, n))
			return m.Values, err
		}
	}
	gauss := func(r privacy.Rho, l2squared int64) func(n int) ([]*big.Int, error) {
		return func(n int) ([]*big.Int, error) {
			m, err := mechanism.Gaussian{L2Squared: big.NewInt(l2squared), Rho: r}.Measure(make([]mechanism.Exact, n))
			return m.Values, err
		}
	}
	symmetric := func(r privacy.Rho, l2squared int64) func(n int) ([]*big.Int, error) {
		return func(n int) ([]*big.Int, error) {
			m, err := mechanism.SymmetricGaussian{Dimension: 2, L2Squared: big.NewInt(l2squared), Rho: r}.Measure(make([]mechanism.Exact, n))
			return m.Values, err
		}
	}
	// Ages 30, 40, 115, 0, 61 (0 … 115) and changes 1, 2, −3, 0, 1 (−10 … 4): of a row at most ‖x‖₁ = 125 and ‖x‖₂² = 13325.
	const sql = "SELECT age, change FROM people"
	exact := map[int][]int64{0: {5}, 1: {246, 1}, 2: {900 + 1600 + 13225 + 0 + 3721, 30 + 80 - 345 + 0 + 61, 1 + 4 + 9 + 0 + 1}}
	for name, s := range map[string]struct {
		c     *Owner
		noise []func(n int) ([]*big.Int, error)
	}{
		"pure": {pureTerms.alone(t), []func(int) ([]*big.Int, error){
			// Of the triangle Σ|x_a x_b| is at most 115² + 115·10 + 10² = (125² + 13325)/2.
			laplace(half.Share(1, 4), 1), laplace(half.Share(1, 4), 125), laplace(half.Share(2, 4), 13225+1150+100),
		}},
		"change-one": {changeTerms.alone(t), []func(int) ([]*big.Int, error){
			// One cell: each entry moves by the width of what it may be, [0, 115], [−10, 4], [0, 13225], [−1150, 460], [0, 100].
			laplace(half.Share(1, 4), 1), laplace(half.Share(1, 4), 115+14), laplace(half.Share(2, 4), 13225+1610+100),
		}},
		"zCDP": {zcdpTerms.alone(t), []func(int) ([]*big.Int, error){
			gauss(rho.Share(1, 4), 1), gauss(rho.Share(1, 4), 13325), symmetric(rho.Share(2, 4), 13325*13325),
		}},
	} {
		v := Vectors{Request: Request{SQL: sql, Fresh: true}, Blocks: []Block{{2, L2, ""}}, Sums: []Sum{Count(), First(0), Product(0, 0).Weighing("2")}}
		got := drawnFrom(3, func() *Moments { return must[*Moments](t)(s.c.Moments(t.Context(), v)) })
		drawn := drawnFrom(3, func() (out [][]*big.Int) {
			for j, of := range s.noise {
				out = append(out, must[[]*big.Int](t)(of(len(exact[j]))))
			}
			return out
		})
		for j, sum := range got.Sums {
			for e, x := range sum.Values[0] {
				if known := new(big.Int).Sub(x, drawn[j][e]); known.Cmp(big.NewInt(exact[j][e])) != 0 {
					t.Errorf("%s: %s: entry %d: %s less the planned noise %s is %s, want %d", name, sum.Name, e, x, drawn[j][e], known, exact[j][e])
				}
			}
			if one := big.NewRat(1, 1); sum.Unit.Cmp(one) != 0 || (sum.OffDiagonal == nil) != (j < 2) {
				t.Errorf("%s: %s: in units of %s, off the diagonal %v", name, sum.Name, sum.Unit, sum.OffDiagonal)
			}
		}
		diagonal, off := got.Sums[2].Noise.StdDev(), got.Sums[2].OffDiagonal.StdDev()
		if want := map[bool]float64{true: 2, false: 1}[name == "zCDP"]; diagonal*diagonal/(off*off) < want*0.999 || diagonal*diagonal/(off*off) > want*1.001 {
			t.Errorf("%s: deviations %g and %g", name, diagonal, off)
		}
	}
}

// Noise on symmetric matrices that is not the planned one stays.
func TestUnplannedMomentsStay(t *testing.T) {
	c := zcdpTerms.alone(t)
	var owner []error
	c.listener = func(err error) { owner = append(owner, err) }
	v := Vectors{Request: Request{SQL: "SELECT age, change FROM people", Fresh: true}, Blocks: []Block{{2, L2, ""}}, Sums: []Sum{Product(0, 0)}}
	of, err := c.moments(v)
	if err != nil {
		t.Fatal(err)
	}
	m := of.Plan()
	s := m.Sums[0]
	s.Parameter = new(big.Rat).Add(s.Parameter, big.NewRat(1, 1))
	_, err = c.take(t.Context(), of)
	if codeOf(err) != CodeFailed || len(owner) != 1 || !errors.Is(owner[0], release.ErrUnplanned) {
		t.Errorf("%v; the owner is told %v", err, owner)
	}
	m.Price = m.Price.Share(9, 10)
	if _, err := c.kernel.Vectors(m, release.Asker{}); !errors.Is(err, release.ErrUnplanned) {
		t.Errorf("shares beyond the price: %v", err)
	}
}

// What is explained is what is charged, and is free.
func TestExplainMoments(t *testing.T) {
	c := pureTerms.alone(t)
	v := Vectors{Request: Request{SQL: "SELECT cost FROM visits GROUP BY day"}, Blocks: []Block{{1, L1, "5"}}, Sums: []Sum{Count(), First(0), Product(0, 0)}}
	e := must[*MomentsExplanation](t)(c.ExplainMoments(t.Context(), v))
	if e.Price.Epsilon != "0.5" || !e.Affordable || e.Replayed || len(e.Cells) != 5 || e.Unit.MaxRows != 3 || spent(t, c) != "0" || len(e.Notes) != 2 {
		t.Errorf("%+v", e)
	}
	for i, want := range []Sensitivity{{3, 3}, {15, 15}, {75, 75}} { // three rows, at 5 each
		if got := e.Sensitivities[i]; got.L1 < want.L1 || got.L1 > want.L1*1.000001 || got.L2 < want.L2 || got.L2 > want.L2*1.000001 {
			t.Errorf("%s: %+v, want %+v", e.Sums[i].Name, got, want)
		}
	}
	got := must[*Moments](t)(c.Moments(t.Context(), v))
	if spent(t, c) != "0.5" || fmt.Sprint(got.Cells) != fmt.Sprint(e.Cells) {
		t.Errorf("spent %s; %v", spent(t, c), got.Cells)
	}
	for i, s := range got.Sums {
		if s.Loss != e.Sums[i].Loss || s.Noise.StdDev() != e.Sums[i].Noise.StdDev() {
			t.Errorf("%s: %v, explained as %v", s.Name, s.Loss, e.Sums[i].Loss)
		}
	}
	if e = must[*MomentsExplanation](t)(c.ExplainMoments(t.Context(), v)); !e.Replayed {
		t.Error("it is not told that it was released before")
	}
}

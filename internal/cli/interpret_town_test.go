package cli

import (
	"context"
	"io"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dither/audit/interpret"
	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/town"
	"dither/noise"
	"dither/privacy"
)

// The insurer and the town. The real curator counts smokers and cancers of a town, and of the same town without Alice; an attacker
// infers from each noisy answer whether smoking harms, and Alice's row, as if her row were in the data and as if it were not.
//
// The attacker believes, at even odds, that the others are one of so many towns as people are known to be, or one of the same towns with
// cancers dealt anew, as if smoking were harmless; and of Alice anything.
const (
	beliefTowns = 60
	townEpsilon = "0.5"
	leastTown   = 400
)

type smokerCell struct {
	smoker town.Answer
	cancer bool
}

// townCells are the cells in the order of the attacker's tables.
var townCells = []smokerCell{
	{town.No, false}, {town.No, true}, {town.Yes, false}, {town.Yes, true}, {town.NotSaid, false}, {town.NotSaid, true},
}

func cellOf(smoker town.Answer, cancer bool) int {
	for i, c := range townCells {
		if c == (smokerCell{smoker, cancer}) {
			return i
		}
	}
	return -1
}

// census counts a town's cells, with each person's cancer or with that of the person so many places on, among the grown-ups over 35.
func census(t town.Town, dealt int) (counts [6]int64) {
	var old []town.Person
	for p := range t.People() {
		if p.Age >= 35 {
			old = append(old, p)
		} else {
			counts[cellOf(p.Smoker, p.LungCancer)]++
		}
	}
	for i, p := range old {
		counts[cellOf(p.Smoker, old[(i+dealt)%len(old)].LungCancer)]++
	}
	return counts
}

// world is one dataset of the attacker's prior: the others, and Alice.
type world struct {
	others  [6]int64
	alice   int
	harmful bool
	prior   *big.Rat
}

// attackerWorlds are the prior. If smoking harms, of smokers one in seven has cancer; else one in twenty-five of everybody.
func attackerWorlds(t *testing.T, people int64) (worlds []world) {
	t.Helper()
	for seed := range uint64(beliefTowns) {
		model, err := town.New(people-1, 1000+seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, harmful := range []bool{true, false} {
			dealt := 0
			if !harmful {
				dealt = 37
			}
			others := census(model, dealt)
			for alice, c := range townCells {
				risk := big.NewRat(1, 25)
				if harmful {
					risk = big.NewRat(1, 125)
					if c.smoker == town.Yes {
						risk = big.NewRat(1, 7)
					}
				}
				if !c.cancer {
					risk = new(big.Rat).Sub(big.NewRat(1, 1), risk)
				}
				worlds = append(worlds, world{others, alice, harmful, risk})
			}
		}
	}
	return worlds
}

func TestInterpretTown(t *testing.T) {
	// Alice is the last of a town, smokes and has lung cancer; the town without her is the town that has one person less.
	people := int64(leastTown)
	grown, err := town.New(town.MaxPeople, 1)
	if err != nil {
		t.Fatal(err)
	}
	for p := grown.Person(people); p.Smoker != town.Yes || !p.LungCancer; p = grown.Person(people) {
		people++
	}
	worlds := attackerWorlds(t, people)
	epsilon, err := privacy.ParseEpsilon(townEpsilon)
	if err != nil {
		t.Fatal(err)
	}
	limit := 2 * nearestFloat(epsilon.Rat())
	harmful := func(x int) bool { return worlds[x].harmful }
	ill := func(x int) bool { return townCells[worlds[x].alice].cancer }
	for _, there := range []bool{true, false} {
		size := people
		if !there {
			size--
		}
		for range 3 {
			in := interpret.Inference{}
			answer := countedTown(t, size)
			for _, w := range worlds {
				with := w.others
				with[w.alice]++
				in.Prior = append(in.Prior, w.prior)
				in.Seen = append(in.Seen, likelihood(answer, with, epsilon))
				in.Without = append(in.Without, likelihood(answer, w.others, epsilon))
			}
			p, err := in.Posterior()
			if err != nil {
				t.Fatal(err)
			}
			ratio, _ := p.LogRatio()
			if ratio > limit*(1+1e-15) || ratio <= 0 {
				t.Errorf("the log ratio is %g, beyond 2ε = %g", ratio, limit)
			}
			a, b := p.Of(harmful)
			c, d := p.Of(ill)
			t.Logf("Alice's row was there: %v. Harmful: .5, then %.4f with her row used and %.4f without. Alice is ill: then %.4f and %.4f. Largest log ratio %.4f of 2ε = %g",
				there, a.Upper, b.Upper, c.Upper, d.Upper, ratio, limit)
		}
	}
}

// likelihood is that of six counts with discrete Laplace noise of scale 1/ε, without its normalising factor.
func likelihood(answer, counts [6]int64, e privacy.Epsilon) interpret.Likelihood {
	away := int64(0)
	for i := range answer {
		away += max(answer[i]-counts[i], counts[i]-answer[i])
	}
	log := new(big.Rat).SetInt64(-away)
	return interpret.Likelihood{Factor: big.NewRat(1, 1), Log: log.Mul(log, e.Rat())}
}

var countedHomes = map[int64]*curator.Owner{}

// countedTown asks the real curator of a town of a size, anew each time, and checks that the noise is the one that the attacker reckons with.
func countedTown(t *testing.T, size int64) (answer [6]int64) {
	t.Helper()
	ctx := context.Background()
	c, ok := countedHomes[size]
	if !ok {
		home := filepath.Join(t.TempDir(), "town")
		var complaint strings.Builder
		args := []string{"demo", "data", "--rows", strconv.FormatInt(size, 10), "--out", home}
		if code := Run(args, strings.NewReader(""), io.Discard, &complaint); code != console.ExitAnswered {
			t.Fatal(complaint.String())
		}
		var err error
		if c, err = curator.Open(home); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			delete(countedHomes, size)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
		if _, err := c.Seal(ctx, "people", curator.SealOptions{StateHome: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
		countedHomes[size] = c
	}
	m, err := c.Measure(ctx, curator.Question{SQL: "SELECT smoker, lung_cancer, COUNT(*) FROM people GROUP BY smoker, lung_cancer", Epsilon: townEpsilon, Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	law, ok := m.Vectors[0].Noise.(noise.DiscreteLaplace)
	if !ok || len(m.Cells) != 6 {
		t.Fatalf("%d cells, noise %T", len(m.Cells), m.Vectors[0].Noise)
	}
	e, err := privacy.ParseEpsilon(townEpsilon)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(math.Log(law.Mass(big.NewInt(3))/law.Mass(big.NewInt(0)))+3*nearestFloat(e.Rat())) > 1e-9 {
		t.Fatalf("the noise has scale %v", law.Scale())
	}
	first := slices.IndexFunc(m.Keys, func(k string) bool { return strings.Trim(k, `"`) == "smoker" }) // keys are in a canonical order
	if first < 0 || len(m.Keys) != 2 {
		t.Fatalf("keys %v", m.Keys)
	}
	for i, keys := range m.Cells {
		smoker := town.NotSaid
		if said, ok := keys[first].(bool); ok {
			smoker = map[bool]town.Answer{true: town.Yes, false: town.No}[said]
		}
		cancer, ok := keys[1-first].(bool)
		if !ok {
			t.Fatalf("cell %v", keys)
		}
		answer[cellOf(smoker, cancer)] = m.Vectors[0].Values[i].Int64()
	}
	return answer
}

func nearestFloat(r *big.Rat) float64 { f, _ := r.Float64(); return f }

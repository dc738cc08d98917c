package tabulate

import (
	"context"
	"math"
	"math/big"
	"slices"

	"dither/curator"
	"dither/strategy/table"
)

// choose decides what the group measures.
func (g *group) choose(ctx context.Context, c *curator.Session, s *Spec) error {
	if err := g.declared(s); err != nil {
		return err
	}
	goals, err := g.goals(s)
	if err != nil {
		return err
	}
	if err := table.CheckWhole(g.space, marginsOf(goals)); err != nil {
		return misuse("tabulate fewer classifications together", "%v", err)
	}
	if err := g.candidates(ctx, c, goals); err != nil {
		return err
	}
	if g.choice, err = divideAmong(g.space, goals, g.options, g.power); err != nil {
		return misuse("", "%v", err)
	}
	g.kept = g.choiceOf(goals)
	g.recall(c)
	g.bound = math.NaN()
	if cost := g.options[0].Cost; !slices.ContainsFunc(g.options, func(o table.Option) bool { return o.Cost != cost }) {
		// Otherwise, as under change-one, some counts need less noise than one count alone.
		g.bound = table.SVDBound(g.space, goals, cost)
	}
	for j, share := range g.choice.Candidates[g.choice.Chosen].Shares {
		if share.Sign() > 0 {
			g.measured = append(g.measured, j)
		}
	}
	request, err := g.strategy()
	if err != nil {
		return err
	}
	if g.plan, err = c.ExplainStrategy(ctx, request); err != nil {
		return err
	}
	noisy := g.noisy()
	g.grid = big.NewRat(1, 1)
	if g.first.Sum != "" {
		g.grid = gridOf(noisy, g.unit)
	}
	scale, _ := new(big.Rat).Quo(g.unit, g.grid).Float64()
	for i := range noisy {
		noisy[i].Variance *= scale * scale
	}
	if g.accuracy, err = table.NewAccuracy(g.space, noisy, g.fixed); err != nil {
		return misuse("", "%v", err)
	}
	return nil
}

// noisy returns the measured margins with the variances of their noise, in squared units of released numbers.
func (g *group) noisy() (out []table.Noisy) {
	for i, j := range g.measured {
		v := math.Max(g.plan.Parts[i].Noise.Variance(), math.SmallestNonzeroFloat32)
		out = append(out, table.Noisy{Margin: g.options[j].Margin, Variance: v})
	}
	return out
}

// gridOf returns the step in which sums are shown: the power of ten that is at most a hundredth of the smallest
// standard deviation, or of the unit of released numbers if that is larger. A finer step would show nothing, and could
// make numbers too large to be rounded.
func gridOf(noisy []table.Noisy, unit *big.Rat) *big.Rat {
	least := math.Inf(1)
	for _, n := range noisy {
		least = math.Min(least, n.Variance)
	}
	least = math.Max(least, 1)
	f, _ := unit.Float64()
	power := int64(math.Floor(math.Log10(math.Sqrt(least) * f / 100)))
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(power, -power)), nil)
	if power < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), ten)
	}
	return new(big.Rat).SetInt(ten)
}

// maxOptions is the largest number of tables that one measurement chooses from.
const maxOptions = 64

// maxOption is the largest number of cells of a table that is measured although nobody asked for it. A measurement has
// at most so many numbers.
const maxOption = 1 << 20

// goals returns the margins of the group's tables, with their weights.
func (g *group) goals(s *Spec) (out []table.Goal, err error) {
	for n, i := range g.tables {
		levels, err := g.levelsOf(s, i)
		if err != nil {
			return nil, err
		}
		for _, l := range levels {
			if cells := g.space.Cells(table.Margin{Level: l, Keys: g.of[n][0]}); cells > maxOption {
				return nil, misuse("give it fewer or coarser classifications", "table %s has more than %d cells of level %s",
					s.Tables[i].Name, maxOption, g.space.Hierarchy.Levels[l].Name)
			}
		}
		w, _ := s.Tables[i].Weight.Float64()
		for _, l := range levels {
			for _, keys := range g.of[n] {
				out = append(out, table.Goal{Margin: table.Margin{Level: l, Keys: keys}, Weight: w / float64(len(levels)*len(g.of[n]))})
			}
		}
	}
	return out, nil
}

// marginsOf returns the margins of goals.
func marginsOf(goals []table.Goal) (out []table.Margin) {
	for _, goal := range goals {
		out = append(out, goal.Margin)
	}
	return out
}

// candidates sets the options: each level of places with each table's classifications, at the levels that the table has
// and at the finest ones. Their costs are the variances of the noise at the whole price.
func (g *group) candidates(ctx context.Context, c *curator.Session, goals []table.Goal) error {
	levels := len(g.space.Hierarchy.Levels)
	add := func(m table.Margin) {
		if !slices.ContainsFunc(g.options, func(o table.Option) bool { return o.Margin == m }) {
			g.options = append(g.options, table.Option{Margin: m})
		}
	}
	for _, goal := range goals {
		add(goal.Margin)
	}
	for _, keys := range []func(table.Keys) table.Keys{func(k table.Keys) table.Keys { return k }, g.space.Finest} {
		if len(g.options)+len(goals)*levels > maxOptions {
			break
		}
		for _, goal := range goals {
			for l := range levels {
				if m := (table.Margin{Level: l, Keys: keys(goal.Keys)}); g.space.Cells(m) <= maxOption {
					add(m)
				}
			}
		}
	}
	for j := range g.options {
		part, err := g.part(g.options[j].Margin)
		if err != nil {
			return err
		}
		e, err := c.ExplainStrategy(ctx, curator.Strategy{Request: g.request, Parts: []curator.StrategyPart{part}})
		if err != nil {
			return err
		}
		g.options[j].Cost = e.Parts[0].Noise.Variance()
		if !(g.options[j].Cost > 0) {
			// Under change-one the number of all rows is public, and nobody moves it. A tiny variance stands for none.
			g.options[j].Cost = math.SmallestNonzeroFloat32
		}
		g.power = table.UnderRho
		if e.Price.Rho == "" {
			g.power = table.UnderEpsilon
		}
	}
	return nil
}

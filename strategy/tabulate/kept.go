package tabulate

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"dither/curator"
	"dither/strategy/table"
)

// divideAmong compares divisions of a price. Tests replace it by one whose floats round differently.
var divideAmong = table.Choose

// kept is a chosen division of the price, as the home keeps it.
type kept struct {
	Name   string
	Shares []*big.Rat
}

// choiceOf determines the tables, the options and the price.
func (g *group) choiceOf(goals []table.Goal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tables 1\n%s\n%s %s\n", g.request.SQL, g.request.Epsilon, g.request.Rho)
	for l := range g.space.Hierarchy.Levels {
		fmt.Fprintf(&b, "level of %d\n", g.space.Hierarchy.Nodes(l))
	}
	for _, c := range g.space.Classes {
		for l := range c.Levels[1:] {
			fmt.Fprintf(&b, "level of %d above %d\n", c.Nodes(l+1), c.Nodes(l))
		}
	}
	for _, goal := range goals {
		fmt.Fprintf(&b, "goal %v %x\n", goal.Margin, goal.Weight)
	}
	for _, o := range g.options {
		fmt.Fprintf(&b, "option %v\n", o.Margin)
	}
	return b.String()
}

// recall replaces the chosen division by the one that the home keeps for these tables, if there is one. Its integers are
// those that were measured, also if another computer chose them.
func (g *group) recall(c *curator.Session) {
	var of kept
	if data := c.Choice(g.kept); data == nil || json.Unmarshal(data, &of) != nil || len(of.Shares) != len(g.options) {
		return
	}
	sum := new(big.Rat)
	for _, s := range of.Shares {
		if s == nil || s.Sign() < 0 || !new(big.Rat).Mul(s, big.NewRat(table.Parts, 1)).IsInt() {
			return
		}
		sum.Add(sum, s)
	}
	if sum.Cmp(big.NewRat(1, 1)) != 0 {
		return
	}
	for i := range g.choice.Candidates {
		if g.choice.Candidates[i].Name == of.Name {
			g.choice.Chosen, g.choice.Candidates[i].Shares = i, of.Shares
			return
		}
	}
}

// chosen returns the chosen division, which the home keeps when it is measured.
func (g *group) chosen() (c curator.Choice) {
	of := g.choice.Candidates[g.choice.Chosen]
	if data, err := json.Marshal(kept{of.Name, of.Shares}); err == nil {
		c = curator.Choice{Of: g.kept, Data: data}
	}
	return c
}

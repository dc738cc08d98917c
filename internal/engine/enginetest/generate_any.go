package enginetest

import (
	"math/big"
	"strings"

	"pgregory.net/rapid"

	"dither/internal/plan"
	"dither/internal/policy"
)

// World is a policy for which questions are generated.
type World struct {
	Policy   *policy.Policy
	Text     []byte // the text of the policy
	Change   bool   // neighbours replace one unit (change-one); if false, they remove it (add-remove)
	Relation bool   // the tables are those of RelationPolicy; if false, t and p of PolicyText
	Inexact  bool   // questions may use functions whose last digits engines may compute differently
}

// Worlds returns policies for both neighbouring relations, with units bounded by rows and by groups, over single
// tables and over relations. For single tables, there are budgets in ε and in ρ, and under ρ groups may be unknown.
func Worlds() (out []World, err error) {
	for _, neighbours := range []string{"add-remove", "change-one"} {
		for _, text := range []struct {
			of       []byte
			relation bool
		}{
			{PolicyText(neighbours), false},
			{ByGroups(neighbours), false},
			{Opened(neighbours), false},
			{OpenedByGroups(neighbours), false},
			{OpenedRelations(neighbours, false), true},
			{OpenedRelations(neighbours, true), true},
		} {
			p, err := policy.Decode(text.of, ".")
			if err != nil {
				return nil, err
			}
			out = append(out, World{
				Policy: p, Text: text.of, Change: neighbours == "change-one",
				Relation: text.relation,
			})
		}
	}
	return out, nil
}

// Anything makes a random question of any kind. It calls one of the other generators, in some cases wraps the result in
// a subquery, and replaces functions by similar ones. In a world of single tables it returns the question's table,
// otherwise "". ofRows reports whether each row is a unit.
func (w World) Anything(t *rapid.T) (request plan.Request, table string, ofRows bool) {
	g := generator{t}
	if w.Relation {
		if request, ofRows = Meeting(t); g.chance(3) {
			request.SQL, ofRows = Relation(t)
			request.Unknown = plan.Unknown{}
		}
	} else {
		table = g.pick("t", "p", "p")
		ofRows = table == "t"
		switch g.pick("sums", "sums", "orders", "open") {
		case "sums":
			request.SQL = Question(t, table)
		case "orders":
			request.SQL = Orders(t, table)
		case "open":
			request.SQL = OpenQuestion(t, table)
			request.Unknown.Other = g.chance(2)
		}
		if table == "p" && g.chance(3) {
			request.MaxGroups = int64(rapid.IntRange(1, 4).Draw(t, "max groups"))
		}
		request.SQL = g.wrapped(request.SQL, table)
	}
	if g.chance(4) {
		// the planner refuses this if the groups are known
		request.Unknown.MinUnits = int64(rapid.IntRange(1, 5).Draw(t, "least units"))
	}
	request.SQL = g.alike(request.SQL)
	if w.Inexact && g.chance(3) {
		request.SQL = strings.ReplaceAll(request.SQL, "SQRT(", g.pick("EXP(", "LN("))
	}
	if w.Inexact && g.chance(2) {
		request.SQL = strings.NewReplacer("MOD(", "POWER(", "DIV(", "LOG(").Replace(request.SQL)
	}
	if g.chance(5) { // the planner refuses this for some questions, and leaves it out if nothing can be cut
		request.Truncation.Share = big.NewRat(1, 20)
		if g.chance(3) {
			request.Truncation.Rows = int64(rapid.IntRange(2, 12).Draw(t, "rows that are counted"))
		}
	}
	return request, table, ofRows
}

// wrapped puts the table into a subquery, or under a name in a WITH clause, in some cases.
func (g generator) wrapped(sql, table string) string {
	from := " FROM " + table
	if strings.Count(sql, from) != 1 || !g.chance(4) {
		return sql
	}
	where := g.pick("", "", " WHERE "+g.condition(1))
	switch g.pick("with", "nested") {
	case "with":
		return "WITH q AS (SELECT * FROM " + table + where + ") " + strings.Replace(sql, from, " FROM q", 1)
	}
	return strings.Replace(sql, from, " FROM (SELECT * FROM "+table+where+") q", 1)
}

// alike replaces some functions by others that take the same arguments.
func (g generator) alike(sql string) string {
	for _, family := range [][]string{
		{"VARIANCE(", "VAR_SAMP(", "VAR_POP("},
		{"STDDEV(", "STDDEV_POP(", "STDDEV_SAMP("},
		{"COVAR_POP(", "COVAR_SAMP("},
		{"CORR(", "REGR_R2(", "REGR_SLOPE("},
		{"REGR_AVGX(", "REGR_AVGY("},
		{"COUNT(*)", "ANON_COUNT(*)"},
	} {
		if one := g.pick(family...); g.chance(2) {
			for _, other := range family {
				sql = strings.ReplaceAll(sql, other, one)
			}
		}
	}
	return sql
}

package enginetest

import (
	"slices"

	"pgregory.net/rapid"

	"dither/internal/plan"
	"dither/internal/policy"
)

// audience is a question that may be asked of twins.
type audience struct {
	sql, text  string
	constructs []string
	again      func(p *policy.Policy) (*audience, error)
	check      func(of [2]Database, pick func(int) int) ([]Move, error)
}

// kindsOfLooks are what is asked beside plans of questions, each in its turn.
var kindsOfLooks = []string{"vectors", "rows", "scores", "values", "parts", "units"}

// audience draws a question of a kind; nil where it is refused.
func (w World) audience(kind string, seed int) *audience {
	return rapid.Custom(func(t *rapid.T) *audience {
		g := generator{t}
		table := g.pick("t", "p", "p", "p")
		target := func(sql string, build func(*policy.Policy, plan.Request) (*plan.Target, error), check func(*plan.Target, string, [2]Database) ([]Move, error)) *audience {
			return audienceOf(w.Policy, sql, func(p *policy.Policy) (*plan.Target, error) { return build(p, plan.Request{SQL: sql}) },
				func(m *plan.Target) string { return m.Key([]int{1, 2, 3}, "") },
				func(m *plan.Target, of [2]Database, _ func(int) int) ([]Move, error) { return check(m, sql, of) })
		}
		switch {
		case kind == "vectors":
			sql, request := VectorQuestion(t, table)
			if w.Relation {
				sql, request, _ = VectorsOver(t)
			}
			return audienceOf(w.Policy, sql, func(p *policy.Policy) (*plan.Moments, error) {
				return plan.BuildMoments(p, plan.Request{SQL: sql}, request)
			},
				func(m *plan.Moments) string { return m.Canonical(1, 2, 3) },
				func(m *plan.Moments, of [2]Database, _ func(int) int) ([]Move, error) { return vectorMoves(m, sql, of) })
		case kind == "rows" && w.Relation:
			return target(RowQuestionOver(t), plan.BuildRows, rowMoves)
		case kind == "rows":
			return target(RowQuestion(t, table), plan.BuildRows, rowMoves)
		case kind == "values" && w.Relation:
			return target(RelationValues(t), plan.BuildOrder, valueMoves)
		case kind == "values":
			return target(Values(t, table), plan.BuildOrder, valueMoves)
		case kind == "scores" && w.Relation:
			sql, _ := Relation(t)
			return target(sql, plan.BuildScores, scoreMoves)
		case kind == "scores":
			return target(Scores(t, table), plan.BuildScores, scoreMoves)
		case kind == "parts" && !w.Relation && w.Policy.Table(table).Part != nil:
			return w.ofParts(table, g.pick("COUNT(*)", "SUM(j)", "SUM(x)", "COUNT(DISTINCT s)")+" FROM "+table+" WHERE "+g.pick(g.confined(), "NOT k = 5", "(k = 5 OR k = 0)", "k <> 0", "k = 0 OR k = -3"))
		}
		request, _, ofRows := w.Anything(t)
		if kind == "units" && w.Relation && !ofRows { // rows that are units are capped by joins alone
			return nil
		}
		request.AutoRows = g.chance(6)
		if w.Relation && !ofRows && g.chance(4) {
			request.MaxRows, request.MaxGroups = int64(rapid.IntRange(0, 2).Draw(t, "max rows")), int64(rapid.IntRange(0, 2).Draw(t, "max groups"))
		}
		a := audienceOf(w.Policy, request.SQL, func(p *policy.Policy) (*plan.Plan, error) { return plan.Build(p, request) },
			func(p *plan.Plan) string { return p.Canonical(1, 2, 3) },
			func(p *plan.Plan, of [2]Database, pick func(int) int) ([]Move, error) {
				return (&Twins{Plan: p, SQL: request.SQL, Of: of, Pick: pick}).Check()
			})
		if a != nil {
			if p, err := plan.Build(w.Policy, request); err == nil {
				a.constructs = In(p, request.SQL)
			}
		}
		return a
	}).Example(seed)
}

// ofParts asks which parts a unit is in, and holds them to how many it may be in, and a question that is confined to some to these. A person who is in parts
// that are not charged must not move it.
func (w World) ofParts(table, of string) *audience {
	sql := "SELECT " + of
	return audienceOf(w.Policy, sql, func(p *policy.Policy) (*plan.Plan, error) { return plan.Build(p, plan.Request{SQL: sql}) },
		func(p *plan.Plan) string { return p.Canonical(1, 2, 3) },
		func(q *plan.Plan, of [2]Database, pick func(int) int) (moves []Move, err error) {
			twins := Twins{Plan: q, SQL: sql, Of: of, Pick: pick}
			if moves, err = twins.Check(); err != nil || q.Part == nil {
				return moves, err
			}
			own, charged := int64(0), false // the parts in which a unit moves a count
			for _, v := range w.Policy.Table(table).Column(q.Columns[q.Part.Column].Name).Values {
				part, err := plan.Build(w.Policy, plan.Request{SQL: "SELECT COUNT(*) FROM " + table + " WHERE " + q.Columns[q.Part.Column].Name + " = " + v.String()})
				if err != nil {
					return moves, err
				}
				l1, _, err := twins.Over(&part.Bounded, nil)
				if err != nil {
					return moves, err
				}
				if moves = append(moves, Move{Kind: "parts", Moved: l1[0].Sign() > 0}); l1[0].Sign() > 0 {
					own++
					charged = charged || slices.Contains(q.Part.Values, v)
				}
			}
			most := q.Part.PerUnit
			if w.Change { // two units, of which one may take the place of the other in a part unseen
				most, charged = 2*most, true
			}
			if own > most {
				return moves, twins.breach("a unit is in %d parts, of %d", own, most)
			}
			if moves[0].Moved && !charged {
				return moves, twins.breach("a unit moves it that is in none of the parts that are charged, %v", q.Part.Values)
			}
			return moves, nil
		})
}

func audienceOf[P any](p *policy.Policy, sql string, build func(*policy.Policy) (P, error), text func(P) string,
	check func(P, [2]Database, func(int) int) ([]Move, error),
) *audience {
	var again func(p *policy.Policy) (*audience, error)
	again = func(p *policy.Policy) (*audience, error) {
		planned, err := build(p)
		if err != nil {
			return nil, err
		}
		return &audience{
			sql: sql, text: text(planned), again: again,
			check: func(of [2]Database, pick func(int) int) ([]Move, error) { return check(planned, of, pick) },
		}, nil
	}
	out, err := again(p)
	if err != nil {
		return nil
	}
	return out
}

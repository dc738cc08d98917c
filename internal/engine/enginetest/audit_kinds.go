package enginetest

import (
	"slices"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/policy"
)

// audience is a planned question that can be asked of two neighbouring databases.
type audience struct {
	sql, text  string
	constructs []string
	again      func(p *policy.Policy) (*audience, error)
	check      func(of [2]Database, pick func(int) int) ([]Move, error)
}

// question is a question with its kind: one of kindsOfLooks, or "" for a question whose plan is checked as a whole.
type question struct {
	plan.Request
	kind    string
	vectors plan.VectorRequest
	// for the kind "strategies": the seed of its strategies
	strategies uint64
}

// kindsOfLooks are the special kinds of questions, which an audit asks in turn.
var kindsOfLooks = []string{"vectors", "rows", "scores", "values", "parts", "units", "stored"}

// audience makes and plans a random question of a kind, one of kindsOfLooks. Some questions of the kind "vectors" are
// histograms for strategies. It returns nil if the planner refuses the
// question.
func (w World) audience(kind string, seed int) *audience {
	if kind == "vectors" && seed%2 == 1 { // the two kinds take turns
		kind = "strategies"
	}
	return rapid.Custom(func(t *rapid.T) *audience {
		q, ok := w.drawn(t, kind)
		if !ok {
			return nil
		}
		a, err := w.asks(q)
		if err != nil {
			return nil
		}
		return a
	}).Example(seed)
}

// drawn makes a random question of a kind, one of kindsOfLooks. It returns false if this world has no such question.
func (w World) drawn(t *rapid.T, kind string) (q question, ok bool) {
	g := generator{t}
	table := g.pick("t", "p", "p", "p")
	q.kind = kind
	switch {
	case kind == "vectors" && w.Relation:
		q.SQL, q.vectors, _ = VectorsOver(t)
		return q, true
	case kind == "vectors":
		q.SQL, q.vectors = VectorQuestion(t, table)
		return q, true
	case kind == "strategies":
		q.strategies = rapid.Uint64().Draw(t, "strategies")
		if q.SQL = StrategyQuestion(t, table); w.Relation {
			q.SQL = StrategyOver(t)
		}
		return q, true
	case kind == "rows" && w.Relation:
		q.SQL = RowQuestionOver(t)
		return q, true
	case kind == "rows":
		q.SQL = RowQuestion(t, table)
		return q, true
	case kind == "values" && w.Relation:
		q.SQL = RelationValues(t)
		return q, true
	case kind == "values":
		q.SQL = Values(t, table)
		return q, true
	case kind == "scores" && w.Relation:
		q.SQL, _ = Relation(t)
		return q, true
	case kind == "scores":
		q.SQL = Scores(t, table)
		return q, true
	case kind == "stored" && w.Relation:
		q.SQL, _ = Relation(t)
		return q, true
	case kind == "stored":
		q.SQL = storedRows
		return q, true
	case kind == "parts" && !w.Relation && w.Policy.Table(table).Part != nil:
		q.SQL = "SELECT " + g.pick("COUNT(*)", "SUM(j)", "SUM(x)", "COUNT(DISTINCT s)") + " FROM " + table + " WHERE " +
			g.pick(g.confined(), "NOT k = 5", "(k = 5 OR k = 0)", "k <> 0", "k = 0 OR k = -3")
		return q, true
	}
	q.kind = ""
	request, _, ofRows := w.Anything(t)
	q.Request = request
	if kind == "units" && w.Relation && !ofRows { // only joins cap rows that are units
		return q, false
	}
	q.AutoRows = g.chance(6)
	if w.Relation && !ofRows && g.chance(4) {
		q.MaxRows, q.MaxGroups = int64(rapid.IntRange(0, 2).Draw(t, "max rows")),
			int64(rapid.IntRange(0, 2).Draw(t, "max groups"))
	}
	return q, true
}

// storedRows is a question over a relation of all rows of persons, for a world of single tables.
const storedRows = "SELECT COUNT(*) FROM (SELECT person AS u FROM p UNION ALL SELECT person FROM p) a"

// asks plans a question.
func (w World) asks(q question) (*audience, error) {
	target := func(build func(*policy.Policy, plan.Request) (*plan.Target, error),
		check func(*plan.Target, string, [2]Database) ([]Move, error),
	) (*audience, error) {
		return audienceOf(w.Policy, q.SQL, func(p *policy.Policy) (*plan.Target, error) { return build(p, q.Request) },
			func(m *plan.Target) string { return m.Key([]int{1, 2, 3}, "") },
			func(m *plan.Target, of [2]Database, _ func(int) int) ([]Move, error) { return check(m, q.SQL, of) })
	}
	switch q.kind {
	case "vectors":
		return audienceOf(w.Policy, q.SQL,
			func(p *policy.Policy) (*plan.Moments, error) { return plan.BuildMoments(p, q.Request, q.vectors) },
			func(m *plan.Moments) string { return m.Canonical(1, 2, 3) },
			func(m *plan.Moments, of [2]Database, _ func(int) int) ([]Move, error) {
				return vectorMoves(m, q.SQL, of)
			})
	case "strategies":
		return audienceOf(w.Policy, q.SQL,
			func(p *policy.Policy) (*plan.Linear, error) { return strategies(p, q.Request, q.strategies) },
			func(m *plan.Linear) string { return m.Canonical(1, 2, 3) },
			func(m *plan.Linear, of [2]Database, _ func(int) int) ([]Move, error) {
				return strategyMoves(m, q.SQL, of)
			})
	case "rows":
		return target(plan.BuildRows, rowMoves)
	case "values":
		return target(plan.BuildOrder, valueMoves)
	case "scores":
		return target(plan.BuildScores, scoreMoves)
	}
	a, err := audienceOf(w.Policy, q.SQL,
		func(p *policy.Policy) (*plan.Plan, error) { return plan.Build(p, q.Request) },
		func(p *plan.Plan) string { return p.Canonical(1, 2, 3) },
		func(p *plan.Plan, of [2]Database, pick func(int) int) ([]Move, error) {
			twins := Twins{Plan: p, SQL: q.SQL, Of: of, Pick: pick}
			switch q.kind {
			case "parts":
				return twins.parts(w)
			case "stored":
				return nil, twins.stored(w)
			}
			return twins.Check()
		})
	if err != nil || q.kind != "" {
		return a, err
	}
	p, err := plan.Build(w.Policy, q.Request)
	a.constructs = In(p, q.SQL)
	return a, err
}

// parts counts the parts in which one unit counts, and compares the number with the plan. A person who is in none
// of the charged parts must not change the answer of a question confined to these parts.
func (w *Twins) parts(of World) (moves []Move, err error) {
	q := w.Plan
	if moves, err = w.Check(); err != nil || q.Part == nil {
		return moves, err
	}
	// own is the number of parts in which the unit changes a count; charged is whether one of them is charged
	own, charged := int64(0), false
	column := q.Columns[q.Part.Column].Name
	for _, v := range of.Policy.Table(q.Table).Column(column).Values {
		part, err := plan.Build(of.Policy,
			plan.Request{SQL: "SELECT COUNT(*) FROM " + q.Table + " WHERE " + column + " = " + v.String()})
		if err != nil {
			return moves, err
		}
		l1, _, err := w.Over(&part.Statement, nil)
		if err != nil {
			return moves, err
		}
		if moves = append(moves, Move{Kind: "parts", Moved: l1[0].Sign() > 0}); l1[0].Sign() > 0 {
			own++
			charged = charged || slices.Contains(q.Part.Values, v)
		}
	}
	most := q.Part.PerUnit
	if of.Change { // two units differ, and in a part one may replace the other without changing the count
		most, charged = 2*most, true
	}
	if own > most {
		return moves, w.breach("a unit is in %d parts, of %d", own, most)
	}
	if moves[0].Moved && !charged {
		return moves, w.breach("a unit moves it that is in none of the parts that are charged, %v", q.Part.Values)
	}
	return moves, nil
}

// stored compares the number of rows of one unit in a relation's tables with the stored bound, on which the planned
// cost depends.
func (w *Twins) stored(of World) (err error) {
	if w.Plan.Source == nil {
		return nil
	}
	for _, d := range w.Of {
		sealed, is := d.(Sealed)
		if !is {
			continue // the reference's rows are not sealed
		}
		w.Plan.Source.Walk(func(s *bounded.Source) {
			most := s.Stored
			switch {
			case err != nil, s.Op != bounded.Scan && s.Op != bounded.Owned, s.Op == bounded.Scan && s.Unit == nil:
				return
			case s.Op == bounded.Scan:
				most = of.Policy.Table(s.Table).Stored()
			}
			n, e := sealed.MostRows(s)
			if err = e; err == nil && n > most {
				err = w.breach("a unit has %d rows of %s, of %d that are stored", n, s, most)
			}
		})
	}
	return err
}

func audienceOf[P any](p *policy.Policy, sql string, build func(*policy.Policy) (P, error), text func(P) string,
	check func(P, [2]Database, func(int) int) ([]Move, error),
) (*audience, error) {
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
	return again(p)
}

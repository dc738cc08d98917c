package query

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	pg "github.com/pganalyze/pg_query_go/v6"
	"pgregory.net/rapid"
)

// looseLimits are for what String wrote: it may be longer than what was asked, never deeper.
var looseLimits = limits{bytes: 1 << 20, tokens: 3 * 2048, depth: defaultLimits.depth}

// sameTree compares trees but for positions.
func sameTree(a, b *Select) string {
	return cmp.Diff(a, b, cmpopts.IgnoreTypes(Pos{}), cmpopts.IgnoreFields(Select{}, "Catalogs", "Tables"), cmpopts.IgnoreFields(Item{}, "Name"),
		cmpopts.EquateEmpty())
}

func TestStringParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genSelect(t)
		sql := want.String()
		got, err := parse(sql, looseLimits, nil)
		if err != nil && strings.Contains(err.Error(), "more than 16 tables") {
			t.Skip()
		}
		if err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
		if diff := sameTree(want, got); diff != "" {
			t.Fatalf("%s\n%s", sql, diff)
		}
		if again := got.String(); again != sql {
			t.Fatalf("%s\nprints again as\n%s", sql, again)
		}
	})
}

// The names after a subquery's alias become aliases in its first SELECT.
func TestNamesAfterAlias(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT sum(b) FROM (SELECT x, y AS z, w FROM t UNION ALL SELECT p, q, r FROM u) AS c (a, b)": "SELECT sum(b) FROM (SELECT x AS a, y AS b, w FROM t UNION ALL SELECT p, q, r FROM u) AS c",
		"WITH w (x, y) AS (VALUES ('a', 0.6), ('b', 0.4)) SELECT sum(v.n) FROM w v, w":                "SELECT sum(v.n) FROM (VALUES ('a', 0.6), ('b', 0.4)) AS v (x, y), (VALUES ('a', 0.6), ('b', 0.4)) AS w (x, y)",
		"WITH w (x) AS (VALUES (1, 2)) SELECT count(*) FROM t, w WHERE y = column2":                   "SELECT count(*) FROM t, (SELECT 1 AS x, 2 AS column2) AS w WHERE y = column2",
		"WITH c (x, n) AS (SELECT x, count(*) FROM t GROUP BY x) SELECT avg(n) FROM c":                "SELECT avg(n) FROM (SELECT x AS x, count(*) AS n FROM t GROUP BY x) AS c",
	} {
		tree, err := Parse(sql)
		if err != nil {
			t.Fatal(sql, err)
		}
		if got := tree.String(); got != want {
			t.Errorf("%s\nprints %s\nwant   %s", sql, got, want)
		}
		again, err := Parse(want)
		if err != nil || sameTree(tree, again) != "" {
			t.Errorf("%s has another meaning than %s: %v", sql, want, err)
		}
	}
}

// TestKeywords compares our list of words to quote with the grammar's own.
func TestKeywords(t *testing.T) {
	words := make([]string, 0, len(keywords)+len(pg.Token_name))
	for w := range keywords {
		words = append(words, w)
	}
	for _, name := range pg.Token_name { // ABORT_P, SELECT, …: more than the keywords, and all of them
		words = append(words, wordOf(name))
	}
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		scan, err := pg.Scan(w)
		if err != nil || len(scan.GetTokens()) != 1 {
			continue
		}
		kind := scan.GetTokens()[0].GetKeywordKind()
		taken := kind != pg.KeywordKind_NO_KEYWORD && kind != pg.KeywordKind_UNRESERVED_KEYWORD
		if taken != keywords[w] {
			t.Errorf("%s: quoted %v, the grammar says %v", w, keywords[w], kind)
		}
	}
}

var names = []string{
	"a", "age", "Visit Date", `q"uote`, "select", "date", "é", "count", "least", "text", "_x1", "1x",
	"real", "year",
}

func genName(t *rapid.T) string {
	if rapid.IntRange(0, 4).Draw(t, "odd") == 0 {
		return rapid.StringMatching(`[a-zA-Z"'\\ $é\x{202e};/*-]{1,12}`).Draw(t, "name")
	}
	return rapid.SampledFrom(names).Draw(t, "name")
}

func genSelect(t *rapid.T) *Select {
	s := &Select{From: From{Table: genName(t), Alias: genAlias(t)}}
	if r := genRelation(t, 2); rapid.IntRange(0, 2).Draw(t, "relation") == 0 {
		if _, plain := r.(*Table); !plain {
			s.From = From{Relation: r}
		} else {
			s.From = From{Relation: &List{Items: []Relation{r, genRelation(t, 1)}}}
		}
	}
	for range rapid.IntRange(1, 3).Draw(t, "items") {
		s.Items = append(s.Items, Item{Expr: genExpr(t, 5), Alias: genAlias(t)})
	}
	s.Where, s.Having = genOptional(t, 5), genOptional(t, 4)
	s.GroupBy = genExprs(t, 0, 2, 3)
	for range rapid.IntRange(0, 2).Draw(t, "groupings") {
		s.GroupBy = append(s.GroupBy, genGrouping(t, 2))
	}
	for range rapid.IntRange(0, 2).Draw(t, "orders") {
		o := Order{Expr: genExpr(t, 3), Desc: rapid.Bool().Draw(t, "desc")}
		if rapid.Bool().Draw(t, "nulls") {
			first := rapid.Bool().Draw(t, "first")
			o.NullsFirst = &first
		}
		s.OrderBy = append(s.OrderBy, o)
	}
	s.Limit, s.Offset = genCount(t), genCount(t)
	return s
}

// genGrouping draws what GROUP BY holds beside expressions, as Grouping says.
func genGrouping(t *rapid.T, depth int) Expr {
	g := &Grouping{Kind: GroupingKind(rapid.IntRange(int(Together), int(Sets)).Draw(t, "grouping"))}
	if g.Kind == Together {
		if rapid.Bool().Draw(t, "none") {
			return g
		}
		g.Args = genExprs(t, 2, 3, 1)
		return g
	}
	g.Args = genExprs(t, 1, 2, 1)
	switch {
	case g.Kind == Sets && depth > 0:
		g.Args = append(g.Args, genGrouping(t, depth-1))
	case rapid.Bool().Draw(t, "list"):
		g.Args = append(g.Args, &Grouping{Kind: Together, Args: genExprs(t, 2, 2, 1)})
	}
	return g
}

func genRelation(t *rapid.T, depth int) Relation {
	kind := rapid.IntRange(0, 4).Draw(t, "relation")
	switch {
	case kind == 0 || depth == 0:
		return &Table{Name: genName(t), Alias: genAlias(t)}
	case kind <= 2:
		j := &Join{
			Kind: rapid.SampledFrom([]JoinKind{InnerJoin, LeftJoin, RightJoin}).Draw(t, "join"),
			L:    genRelation(t, depth-1), R: genRelation(t, depth-1),
		}
		if rapid.Bool().Draw(t, "using") {
			j.Using = []string{genName(t), genName(t)}
			if rapid.Bool().Draw(t, "natural") {
				j.Using, j.Natural = nil, true
			}
		} else {
			j.On = genExpr(t, 2)
		}
		return j
	}
	out := &Subquery{Alias: genAlias(t)}
	for range rapid.IntRange(1, 2).Draw(t, "branches") {
		s := &Select{
			Distinct: rapid.Bool().Draw(t, "distinct"), From: From{Table: genName(t), Alias: genAlias(t)},
			Where: genOptional(t, 2), GroupBy: genExprs(t, 0, 2, 2), Having: genOptional(t, 2),
		}
		s.Items = []Item{{Expr: genExpr(t, 2), Alias: genAlias(t)}, {Expr: &Star{Table: genAlias(t)}}}
		if r := genRelation(t, depth-1); rapid.Bool().Draw(t, "nested") {
			if _, plain := r.(*Table); !plain {
				s.From = From{Relation: r}
			}
		}
		out.Branches = append(out.Branches, s)
	}
	return out
}

func genAlias(t *rapid.T) string {
	if rapid.Bool().Draw(t, "alias") {
		return genName(t)
	}
	return ""
}

func genCount(t *rapid.T) *int64 {
	if rapid.Bool().Draw(t, "count") {
		n := rapid.Int64Min(0).Draw(t, "n")
		return &n
	}
	return nil
}

func genOptional(t *rapid.T, depth int) Expr {
	if rapid.Bool().Draw(t, "present") {
		return genExpr(t, depth)
	}
	return nil
}

func genExprs(t *rapid.T, least, most, depth int) []Expr {
	var out []Expr
	for range rapid.IntRange(least, most).Draw(t, "number") {
		out = append(out, genExpr(t, depth))
	}
	return out
}

func genExpr(t *rapid.T, depth int) Expr {
	if depth == 0 {
		return genLeaf(t)
	}
	not := rapid.Bool().Draw(t, "not")
	sub := func() Expr { return genExpr(t, depth-1) }
	switch rapid.IntRange(0, 13).Draw(t, "kind") {
	case 13:
		return genNested(t)
	case 0, 1:
		return genLeaf(t)
	case 2:
		return &Unary{Op: Not, X: sub()}
	case 3:
		x := sub()
		if l, ok := x.(*Literal); ok && (l.Kind == IntegerLiteral || l.Kind == DecimalLiteral) {
			return x // Parse folds the minus into the number
		}
		return &Unary{Op: Negate, X: x}
	case 4, 5, 6:
		return &Binary{Op: BinaryOp(rapid.IntRange(int(Add), int(Or)).Draw(t, "op")), L: sub(), R: sub()}
	case 7:
		return &Between{X: sub(), Lo: sub(), Hi: sub(), Not: not}
	case 8:
		return &In{X: sub(), List: genExprs(t, 1, 3, depth-1), Not: not}
	case 9:
		any := rapid.Bool().Draw(t, "any case")
		return &Like{X: sub(), Pattern: sub(), Not: not, AnyCase: any, Similar: !any && rapid.Bool().Draw(t, "similar")}
	case 10:
		return &Is{X: sub(), What: IsWhat(rapid.IntRange(int(IsNull), int(IsUnknown)).Draw(t, "what")), Not: not}
	case 11:
		x, to := sub(), rapid.SampledFrom([]string{"integer", "real", "text", "boolean", "date"}).Draw(t, "type")
		if l, ok := x.(*Literal); ok && l.Kind == StringLiteral && to == "date" {
			to = "text" // Parse makes it a date
		}
		return &Cast{X: x, Type: to}
	}
	if not {
		c := &Case{Operand: genOptional(t, depth-1), Else: genOptional(t, depth-1)}
		for range rapid.IntRange(1, 2).Draw(t, "whens") {
			c.Whens = append(c.Whens, When{Cond: sub(), Result: sub()})
		}
		return c
	}
	return genCall(t, depth)
}

func genNested(t *rapid.T) Expr {
	out := &Nested{Kind: NestedKind(rapid.IntRange(int(InNested), int(ValueNested)).Draw(t, "nested"))}
	if out.Kind == InNested {
		out.X = genExprs(t, 1, 2, 0)
	}
	s := &Select{Items: []Item{{Expr: genExpr(t, 0)}}, From: From{Table: genName(t)}, Where: genOptional(t, 1)}
	out.Sub = &Subquery{Branches: []*Select{s}}
	return out
}

func genCall(t *rapid.T, depth int) Expr {
	switch name := rapid.SampledFrom([]string{
		"count", "sum", "Odd", "extract", "left", "coalesce", "least", "greatest",
		"grouping", "rollup", "cube", "nullif", "percentile_cont", "mode",
	}).Draw(t, "function"); name {
	case "nullif":
		return &Call{Name: name, Args: genExprs(t, 2, 2, depth-1)}
	case "coalesce", "least", "greatest", "grouping":
		return &Call{Name: name, Args: genExprs(t, 1, 3, depth-1)}
	case "percentile_cont", "mode":
		by := Order{Expr: genExprs(t, 1, 1, depth-1)[0], Desc: rapid.Bool().Draw(t, "desc")}
		return &Call{Name: name, Args: genExprs(t, 0, 1, depth-1), Within: &by, Filter: genExprs(t, 1, 1, depth-1)[0]}
	case "count":
		if rapid.Bool().Draw(t, "star") {
			return &Call{Name: name, Star: true}
		}
		return &Call{Name: name, Args: genExprs(t, 1, 1, depth-1), Distinct: true}
	default:
		return &Call{Name: name, Args: genExprs(t, 0, 3, depth-1), Over: genWindow(t, depth-1)}
	}
}

func genWindow(t *rapid.T, depth int) *Window {
	if rapid.Bool().Draw(t, "plain") {
		return nil
	}
	w := &Window{Partition: genExprs(t, 0, 2, depth)}
	for _, e := range genExprs(t, 0, 2, depth) {
		w.Order = append(w.Order, Order{Expr: e, Desc: rapid.Bool().Draw(t, "desc")})
	}
	if rapid.Bool().Draw(t, "frame") {
		end := func(least, most FrameEndKind) FrameEnd {
			out := FrameEnd{Kind: FrameEndKind(rapid.IntRange(int(least), int(most)).Draw(t, "end"))}
			if out.Kind == Preceding || out.Kind == Following {
				out.Offset = rapid.Int64Range(0, 9).Draw(t, "offset")
			}
			return out
		}
		start := end(UnboundedPreceding, Following)
		w.Frame = &Frame{Start: start, End: end(max(start.Kind, Preceding), UnboundedFollowing)}
	}
	return w
}

func genLeaf(t *rapid.T) Expr {
	switch rapid.IntRange(0, 7).Draw(t, "leaf") {
	case 0:
		return &Literal{Kind: IntegerLiteral, Text: strconv.FormatInt(rapid.Int64().Draw(t, "int"), 10)}
	case 1:
		return &Literal{
			Kind: DecimalLiteral,
			Text: rapid.StringMatching(
				`-?([0-9]{1,25}\.[0-9]{0,5}|\.[0-9]{1,30}|[1-9]{1,5})e-?[0-9]{1,3}|-?[0-9]{1,25}\.[0-9]{0,5}`).Draw(t,
				"decimal"),
		}
	case 2:
		return &Literal{
			Kind: StringLiteral,
			Text: rapid.StringMatching(`[a-zA-Z0-9'"\\%_\n é\x{202e}$-]{0,12}`).Draw(t, "text"),
		}
	case 3:
		return &Literal{Kind: BooleanLiteral, Bool: rapid.Bool().Draw(t, "bool")}
	case 4:
		return &Literal{Kind: NullLiteral}
	case 5:
		return &Literal{
			Kind: DateLiteral,
			Text: rapid.SampledFrom([]string{"2020-01-31", "0001-01-01", "1969-12-31"}).Draw(t, "date"),
		}
	case 6:
		return &Column{Table: genName(t), Name: genName(t)}
	}
	return &Column{Name: genName(t)}
}

// wordOf is the keyword that a token is named after.
func wordOf(token string) string {
	return strings.ToLower(strings.TrimSuffix(token, "_P"))
}

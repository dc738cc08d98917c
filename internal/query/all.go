package query

import (
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// GROUP BY ALL groups by every item of the SELECT list that has no aggregate. ORDER BY ALL orders by every item.
// DuckDB, Snowflake, BigQuery and Databricks have both, and PostgreSQL's grammar has neither. PostgreSQL's parser gets
// the constant 1 in the place of ALL, and the offset says what it stands for. In PostgreSQL's grammar an expression
// follows GROUP BY ALL, and ALL never follows ORDER BY, so no statement of PostgreSQL changes its meaning.

// alls returns the offsets of these words.
func alls(sql string, tokens []*pg.ScanToken) (out []int) {
	word := func(i int) string {
		if i < 0 || i >= len(tokens) {
			return ""
		}
		start, end := int(tokens[i].GetStart()), int(tokens[i].GetEnd())
		if start < 0 || end > len(sql) || start >= end {
			return ""
		}
		return strings.ToLower(sql[start:end])
	}
	for i, t := range tokens {
		if t.GetToken() != pg.Token_ALL || i < 2 || tokens[i-1].GetToken() != pg.Token_BY || word(i) != "all" {
			continue
		}
		switch next := word(i + 1); tokens[i-2].GetToken() {
		case pg.Token_GROUP_P:
			if slices.Contains(afterGroups, next) {
				out = append(out, int(t.GetStart()))
			}
		case pg.Token_ORDER:
			if slices.Contains(afterOrder, next) {
				out = append(out, int(t.GetStart()))
			}
		}
	}
	return out
}

// The words and signs that may follow GROUP BY ALL, and those that may follow ORDER BY ALL. "" is the end of the text.
var (
	afterGroups = []string{
		"", ")", ";", "having", "window", "order", "limit", "offset", "fetch", "union", "intersect", "except", "for",
	}
	afterOrder = []string{"", ")", ";", "asc", "desc", "nulls", "limit", "offset", "fetch", "for"}
)

// stands reports whether a node is the constant in the place of ALL.
func (l *lowering) stands(n *pg.Node) bool {
	c := n.GetAConst()
	return c != nil && l.alls[int(c.GetLocation())]
}

// noStar refuses * beside ALL.
func noStar(items []Item, clause string) error {
	for _, item := range items {
		if s, ok := item.Expr.(*Star); ok {
			return &Error{Pos: s.At, Message: "* cannot stand beside " + clause + " ALL", Hint: "name the columns"}
		}
	}
	return nil
}

// keysOf returns the keys for which GROUP BY ALL stands. Constants are no keys.
func keysOf(items []Item) (out []Expr, err error) {
	if err := noStar(items, "GROUP BY"); err != nil {
		return nil, err
	}
	for _, item := range items {
		column, aggregate := false, false
		if _, err := Rewrite(item.Expr, func(x Expr) (Expr, error) {
			switch x := x.(type) {
			case *Column:
				column = true
			case *Call:
				aggregate = aggregate || x.Over != nil || x.Filter != nil || x.Within != nil || aggregates[x.Name]
			}
			return x, nil
		}); err != nil {
			return nil, err
		}
		if column && !aggregate {
			out = append(out, item.Expr)
		}
	}
	return out, nil
}

// ordersOf returns the order for which ORDER BY ALL stands: that of every item, by its number.
func (l *lowering) ordersOf(items []Item, s *pg.SortBy, start Pos) (out []Order, err error) {
	if err := noStar(items, "ORDER BY"); err != nil {
		return nil, err
	}
	at := l.pos(s.GetNode().GetAConst().GetLocation(), start)
	for i := range items {
		o, err := direction(Order{Expr: whole(at, strconv.Itoa(i+1))}, s, at)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// aggregates are the names of aggregates, also of those that are not supported.
var aggregates = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields("count sum avg min max bool_or bool_and every any_value median percentile_cont " +
		"percentile_disc approx_quantiles mode clipped var_pop var_samp variance stddev_pop stddev_samp stddev covar_pop " +
		"covar_samp corr regr_slope regr_intercept regr_r2 regr_count regr_avgx regr_avgy approx_count_distinct anon_count " +
		"anon_sum anon_avg anon_var_pop anon_stddev_pop anon_quantiles string_agg array_agg list json_agg jsonb_agg " +
		"bit_and bit_or grouping") {
		out[name] = true
	}
	return out
}()

// Aggregate reports whether an aggregate has this name, supported or not.
func Aggregate(name string) bool { return aggregates[name] }

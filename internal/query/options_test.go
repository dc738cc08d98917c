package query

import (
	"strings"
	"testing"
)

// The clause is read by tokens: what is in a comment, a text or a name is no clause, and positions behind it are those
// of the text.
func TestOptions(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{
			"select with differential_privacy options(epsilon=1, Delta = 1e-6,max_groups_contributed=NULL) count(*) from t",
			"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, delta = 1e-6, max_groups_contributed = NULL) count(*) FROM t",
		},
		{
			"SELECT WITH DIFFERENTIAL_PRIVACY count(*) FROM t",
			"SELECT WITH DIFFERENTIAL_PRIVACY count(*) FROM t",
		},
		{
			"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS() count(*) FROM t",
			"SELECT WITH DIFFERENTIAL_PRIVACY count(*) FROM t",
		},
		{
			"SELECT /* a */ WITH -- b\n ANONYMIZATION /* OPTIONS(x=1) */ OPTIONS(kappa=-2, privacy_unit_column=T.\"Id é\") 1 FROM t",
			"SELECT WITH ANONYMIZATION OPTIONS(kappa = -2, privacy_unit_column = t.\"Id é\") 1 FROM t",
		},
		{
			"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(a='x''y', b=\"J\", c=TRUE, d=LAPLACE_THRESHOLD, e=+0x10) 1 FROM t",
			"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(a = 'x''y', b = \"J\", c = TRUE, d = laplace_threshold, e = 16) 1 FROM t",
		},
		{
			"SELECT 'SELECT WITH DIFFERENTIAL_PRIVACY' FROM t -- SELECT WITH DIFFERENTIAL_PRIVACY",
			"SELECT 'SELECT WITH DIFFERENTIAL_PRIVACY' FROM t",
		},
		{
			`SELECT "with", differential_privacy, options FROM t`,
			`SELECT "with", differential_privacy, options FROM t`,
		},
		{
			"SELECT count(*, contribution_bounds_per_group => (0, -5)), sum(x, weight => 2, bounds => auto) FROM t",
			"SELECT count(*, contribution_bounds_per_group => (0, -5)), sum(x, weight => 2, bounds => auto) FROM t",
		},
		{
			"SELECT f(w := .5, b => DATE '2020-01-31', c => NULL, d => 'x'), g(DISTINCT x, y => 1) FROM t",
			"SELECT f(w => .5, b => DATE '2020-01-31', c => NULL, d => 'x'), g(DISTINCT x, y => 1) FROM t",
		},
	} {
		sql, want := c.sql, c.want
		s, err := Parse(sql)
		if err != nil {
			t.Errorf("%s\n%v", sql, err)
			continue
		}
		if got := s.String(); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
		again, err := Parse(want)
		if err != nil {
			t.Errorf("%s\n%v", want, err)
		} else if diff := sameTree(s, again); diff != "" {
			t.Errorf("%s\n%s", want, diff)
		}
	}
	s, err := Parse("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(a=\"é日本\",\n b=2) /* ü */ count(*, w => 3) FROM t")
	if err != nil {
		t.Fatal(err)
	}
	call := s.Items[0].Expr.(*Call)
	for what, got := range map[string][2]Pos{
		"clause": {s.Options.At, {1, 8}}, "first": {s.Options.List[0].At, {1, 42}},
		"second": {s.Options.List[1].At, {2, 2}},
		"call":   {call.At, {2, 15}}, "argument": {call.Named[0].At, {2, 24}}, "table": {s.From.At, {2, 37}},
	} {
		if got[0] != got[1] {
			t.Errorf("%s is at %v, not %v", what, got[0], got[1])
		}
	}
	if !call.Star || len(call.Args) != 0 {
		t.Errorf("%+v", call)
	}
}

func TestOptionsRefused(t *testing.T) {
	const dp = "SELECT WITH DIFFERENTIAL_PRIVACY "
	for _, c := range []struct{ sql, want string }{
		{
			dp + "OPTIONS(epsilon) 1 FROM t",
			"1:42: an option must be a name, =, and a value",
		},
		{
			dp + "OPTIONS(epsilon=) 1 FROM t",
			"1:42: an option must be a name, =, and a value",
		},
		{
			dp + "OPTIONS(epsilon=1,) 1 FROM t",
			"1:52: an option is missing after the comma",
		},
		{
			dp + "OPTIONS(epsilon=1 2) 1 FROM t",
			"1:50: this cannot be the value of an option",
		},
		{
			dp + "OPTIONS(epsilon=(1) 1 FROM t",
			"1:34: the list of options does not end",
		},
		{
			dp + "OPTIONS(epsilon=()) 1 FROM t",
			"1:50: this cannot be the value of an option",
		},
		{
			dp + "OPTIONS(epsilon=(1)2) 1 FROM t",
			"1:50: this cannot be the value of an option",
		},
		{
			dp + "OPTIONS(epsilon=(1)*(2) 1 FROM t",
			"1:34: the list of options does not end",
		},
		{
			dp + "OPTIONS(epsilon=ln(3)) 1 FROM t",
			"1:50: an option does not compute LN",
		},
		{
			dp + "OPTIONS(epsilon=1 ; 1 FROM t",
			"1:34: the list of options does not end",
		},
		{
			dp + "OPTIONS(epsilon=1, a.b=2) 1 FROM t",
			"1:53: an option must be a name, =, and a value",
		},
		{
			dp + "WITH DIFFERENTIAL_PRIVACY 1 FROM t",
			"1:34: the clause is allowed only once",
		},
		{
			"SELECT (SELECT WITH DIFFERENTIAL_PRIVACY 1), (SELECT WITH DIFFERENTIAL_PRIVACY 2) FROM t",
			"1:54: the clause is allowed only once",
		},
		{
			dp + "a FROM t UNION ALL SELECT WITH ANONYMIZATION OPTIONS(a=1) b FROM t",
			"1:60: the clause is allowed only once",
		},
		{
			"WITH DIFFERENTIAL_PRIVACY SELECT 1 FROM t",
			"1:27: syntax error",
		},
		{
			"SELECT anon_sum(x CLAMPED BETWEEN 0 AND 1) FROM t",
			"1:19: CLAMPED BETWEEN is not supported",
		},
		{
			"SELECT sum(x, y => z + 1) FROM t",
			"1:22: the value of y must be a constant",
		},
		{
			"SELECT sum(x, y => t.z) FROM t",
			"1:20: the value of y must be a constant",
		},
		{
			"SELECT sum(x, y => ROW(1, 2)) FROM t",
			"1:20: rows of values are not supported",
		},
		{
			"SELECT sum(x, y => 1, y => 2) FROM t",
			"1:23: the argument y is given twice",
		},
		{
			"SELECT sum(y => 1, x) FROM t",
			"1:20: a plain argument cannot follow",
		},
		{
			"SELECT f(*, 1) FROM t",
			"1:13: a plain argument cannot follow",
		},
		{
			"SELECT (*, 1) FROM t",
			"1:8: rows of values are not supported",
		},
		{
			"SELECT a FROM t WHERE a IN (*, 1)",
			"1:29: * is not allowed here",
		},
		{
			"SELECT least(*, 1) FROM t",
			"1:14: * is not allowed here",
		},
		{
			"SELECT f(x => (*, 1)) FROM t",
			"1:16: * is not allowed here",
		},
		{
			"SELECT f(DISTINCT *, x => 1) FROM t",
			"1:19: syntax error",
		},
	} {
		sql, want := c.sql, c.want
		_, err := Parse(sql)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", sql, err, want)
		}
	}
}

// A clause inside parentheses belongs to the SELECT that it follows, and to no other.
func TestOptionsHeadTheirSelect(t *testing.T) {
	const dp = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) "
	for sql, inner := range map[string]bool{
		"SELECT n FROM (" + dp + "COUNT(*) AS n FROM t) q WHERE n > 3":             true,
		"SELECT n FROM (" + dp + "DISTINCT a FROM t) q":                            true,
		"SELECT n + 1 FROM (" + dp + "COUNT(*) + SUM(x) * 2 AS n FROM t) AS q":     true,
		"WITH q AS (" + dp + "g, COUNT(*) AS n FROM t GROUP BY g) SELECT n FROM q": true,
		dp + "n FROM (SELECT COUNT(*) AS n FROM t) q":                              false,
	} {
		s, err := Parse(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		below := s.From.Relation.(*Subquery).Branches[0]
		if s.Options.Heads(s) == inner || s.Options.Heads(below) != inner && inner {
			t.Errorf("%s: it heads the outer SELECT: %t, the inner one: %t", sql, s.Options.Heads(s), s.Options.Heads(below))
		}
		if o := s.Options.Outermost(); !o.Heads(s) || !o.Heads(below) {
			t.Errorf("%s: an outermost clause heads every SELECT that has it", sql)
		}
	}
}

package curator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// mostUntried is the number of hints in testdata/hints.txt. It may only be lowered.
const mostUntried = 60

// Hints that the planner writes in the question's own names are answered when they are pasted.
func TestHintsArePasted(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	session := sealedHome(t, "ferry")
	for _, c := range []struct{ sql, hint string }{
		{"SELECT «MIN(fare)» FROM trips", "percentile_disc(0.01) WITHIN GROUP (ORDER BY fare)"},
		{"SELECT route, «MAX(fare * luggage)» AS m FROM trips WHERE deck = 'car' GROUP BY route HAVING MAX(fare * luggage) > 3 ORDER BY m", "percentile_disc(0.99) WITHIN GROUP (ORDER BY fare * luggage)"},
		{"SELECT «MAX(sailed)» FROM trips", "percentile_disc(0.99) WITHIN GROUP (ORDER BY sailed)"},
		{"SELECT «MIN(fare) FILTER (WHERE cancelled)» FROM trips", "percentile_disc(0.01) WITHIN GROUP (ORDER BY fare) FILTER (WHERE cancelled)"},
		{"«SELECT MAX(route) FROM trips WHERE fare > 3»", "SELECT route FROM trips WHERE fare > 3 GROUP BY route HAVING count(*) > 100 ORDER BY route DESC LIMIT 1"},
		{"«SELECT MIN(agent) FROM trips»", "SELECT agent FROM trips GROUP BY agent HAVING count(*) > 100 ORDER BY agent LIMIT 1"},
		{"«SELECT passenger, SUM(fare) FROM trips WHERE fare > 3 GROUP BY passenger»", "SELECT avg(n) FROM (SELECT passenger, count(*) AS n FROM trips WHERE fare > 3 GROUP BY passenger) AS q"},
		{"«SELECT t.passenger, COUNT(*) FROM trips t, passengers p WHERE t.passenger = p.passenger AND p.member GROUP BY 1 ORDER BY 2 DESC LIMIT 10»", "SELECT avg(n) FROM (SELECT t.passenger, count(*) AS n FROM trips AS t, passengers AS p"},
		{"«SELECT SUM(fare) OVER () FROM trips»", "SELECT sum(sum(fare)) OVER () FROM trips"},
		{"«SELECT route, fare, SUM(fare) OVER (PARTITION BY channel) FROM trips»", ""},
		{"«SELECT route, COUNT(*) OVER (PARTITION BY channel) AS n FROM trips WHERE NOT cancelled»", "SELECT route, sum(count(*)) OVER (PARTITION BY channel) AS n FROM trips WHERE NOT cancelled GROUP BY route, channel"},
		{"«SELECT channel, ROW_NUMBER() OVER (ORDER BY route) FROM trips»", "SELECT channel, row_number() OVER (ORDER BY route) FROM trips GROUP BY channel, route"},
		{"«SELECT DISTINCT route FROM trips WHERE fare > 5 ORDER BY route»", "SELECT route, count(*) FROM trips WHERE fare > 5 GROUP BY route HAVING count(*) > 100 ORDER BY route"},
	} {
		before, rest, _ := strings.Cut(c.sql, "«")
		call, after, _ := strings.Cut(rest, "»")
		_, err := session.Explain(t.Context(), Question{SQL: before + call + after})
		message, hint := refusal(err)
		if message == "" || !strings.Contains(hint, c.hint) {
			t.Errorf("%s: %s\n%s", c.sql, message, hint)
			continue
		}
		if c.hint == "" { // the general hint
			continue
		}
		_, pasted, ok := strings.Cut(hint, "write ")
		if !ok {
			t.Errorf("%s: %s", c.sql, hint)
			continue
		}
		if strings.Contains(c.sql, "HAVING MAX") { // the hint replaces each of the calls
			after = strings.ReplaceAll(after, call, pasted)
		}
		if _, err := session.Explain(t.Context(), Question{SQL: before + pasted + after}); err != nil {
			t.Errorf("%s: the hint gives %s, which is refused: %v", c.sql, before+pasted+after, err)
		}
	}
}

// pasted has a refused question for a hint that begins with "write": the part between « and » is what the hint replaces. as
// maps the words that stand for the question's own in the hint. Each hint of the planner's sources is here or in
// testdata/hints.txt, the list of hints that no question tries yet. The list may only become shorter.
var pasted = []struct{ hint, sql, as, part string }{
	{"write EXTRACT(epoch FROM a - b) / 86400 for days, / 3600 for hours", "SELECT AVG(«booked_at - TIMESTAMP '2024-01-01'») FROM trips", "a=booked_at b=TIMESTAMP_'2024-01-01'", ""},
	{"write EXTRACT(epoch FROM a - b) / 86400 for days", "SELECT AVG(«EXTRACT(epoch FROM AGE(booked_at, TIMESTAMP '2024-01-01'))») FROM trips", "a=booked_at b=TIMESTAMP_'2024-01-01'", ""},
	{"write INTERVAL '1 day 02:00:00'", "SELECT COUNT(*) FROM trips WHERE booked_at > TIMESTAMP '2024-01-01' + «INTERVAL '26' HOUR TO SECOND»", "", ""},
	{"write INTERVAL '1 day', '3 months', '1 year 2 months' or '01:30:00'", "SELECT COUNT(*) FROM trips WHERE booked_at > TIMESTAMP '2024-01-01' + «INTERVAL 'soon'»", "", "INTERVAL '1 day'"},
	{"write DATE '2020-01-31'", "SELECT COUNT(*) FROM trips WHERE sailed > «DATE '1/2/2020'»", "", ""},
	{"write '1 month', '3 months' or '1 year'", "SELECT time_bucket(«'5 months'», booked_at) AS b, COUNT(*) FROM trips GROUP BY 1", "", "'3 months'"},
	{"write a constant, such as TIMESTAMP '2000-01-01'", "SELECT date_bin('7 days', booked_at, «booked_at») AS b, COUNT(*) FROM trips GROUP BY 1", "", "TIMESTAMP '2000-01-01'"},
	{"write IS NULL or IS NOT NULL", "SELECT COUNT(*) FROM trips WHERE agent «= NULL»", "", ""},
	{"write CASE WHEN … THEN 1 ELSE 0 END, or CAST(… AS INTEGER)", "SELECT SUM(«cancelled») FROM trips", "…=cancelled", ""},
	{"write CAST(… AS INTEGER), which is 1 or 0", "SELECT STDDEV(«cancelled») FROM trips", "…=cancelled", ""},
	{"write … alone", "SELECT COUNT(*) FROM trips WHERE booked_at::«timestamp(3)» > TIMESTAMP '2024-01-01'", "…=timestamp", "…"},
	{"use JOIN, or LEFT JOIN from the table of persons", "SELECT COUNT(*) FROM trips t «FULL JOIN» passengers p ON t.passenger = p.passenger", "", "JOIN"},
	{"write ASC or DESC", "SELECT route, COUNT(*) AS n FROM trips GROUP BY route ORDER BY n «USING >»", "", ""},
	{"write WITH", "«WITH RECURSIVE» a AS (SELECT fare FROM trips) SELECT SUM(fare) FROM a", "", ""},
	{"write OPTIONS(epsilon = 1, max_groups_contributed = 2)", "SELECT WITH DIFFERENTIAL_PRIVACY «OPTIONS(epsilon 1)» COUNT(*) FROM trips", "", ""},
	{"write delta=1e-6", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, «delta=2») COUNT(*) FROM trips", "", ""},
	{"write delta=1e-6 for it", "SELECT WITH ANONYMIZATION OPTIONS(epsilon=1, «k_threshold=3») ANON_COUNT(*) FROM trips", "", ""},
	{"write …=2", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(«max_groups_contributed=0») route, COUNT(*) FROM trips GROUP BY route", "…=max_groups_contributed", ""},
	{"write …, or leave it out", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column=«route») COUNT(*) FROM trips", "…=passenger", ""},
	{"write max_rows_contributed=auto beside it", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(«max_rows_quantile=0.9») COUNT(*) FROM trips", "", "max_rows_contributed=auto"},
	{"write max_groups_contributed in its place: it bounds the groups in which a unit counts", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(«max_rows_contributed»=2) route, AVG(fare, contribution_bounds_per_group => (0, 9)) FROM trips GROUP BY route", "", "max_groups_contributed"},
	{"write target_relative_error=0.05 for 5%", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(«target_relative_error=5») COUNT(*) FROM trips", "", ""},
	{"write weight => 2 for twice the share", "SELECT COUNT(*, «weight => 'x'») FROM trips", "", ""},
	{"write … => (0, 100)", "SELECT SUM(fare, «bounds => (a, b)») FROM trips", "…=bounds", ""},
	{"write contribution_bounds_per_row => (low, high)", "SELECT VAR_POP(fare, «contribution_bounds_per_group => (0, 3)») FROM trips", "low=0 high=3", ""},
	{"write MODE() WITHIN GROUP (ORDER BY x) for the most frequent value", "SELECT «MEDIAN(route)» FROM trips", "x=route", ""},
	{"write APPROX_QUANTILES(x, 4) for quartiles, which are x_0 to x_4", "SELECT «APPROX_QUANTILES(fare, 500)» FROM trips", "x=fare", ""},
	{"write a constant such as 0.5, which is the median", "SELECT PERCENTILE_CONT(«luggage») WITHIN GROUP (ORDER BY fare) FROM trips", "", "0.5"},
	{"write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) …, which shows exactly the public table's groups", "«SELECT» r.route, COUNT(*) FROM trips RIGHT JOIN (SELECT DISTINCT route FROM routes) r ON trips.route = r.route GROUP BY r.route", "", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS)"},
	{"write GROUP BY …", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) r.route, COUNT(*) FROM trips RIGHT JOIN (SELECT DISTINCT route FROM routes) r ON trips.route = r.route «GROUP BY trips.route»", "…=r.route", ""},
	{"write (VALUES (1, 2)) q (a, b)", "SELECT SUM(q.a) FROM trips, «(VALUES (1, 2)) q»", "", ""},
	{"write (a, b) = (1, 2), or (a, b) IN ((1, 2), (3, 4))", "SELECT COUNT(*) FROM trips WHERE «(luggage, children) = (1, 2, 3)»", "a=luggage b=children", ""},
	{"write (a, b) = (1, 2), or (a, b) IN ((1, 2), (3, 4))", "SELECT COUNT(*) FROM trips WHERE «(luggage, children) = (1, 2, 3)»", "a=luggage b=children", "(a, b) IN ((1, 2), (3, 4))"},
	{"write ARRAY['a', 'b'], or x IN ('a', 'b')", "SELECT COUNT(*) FROM trips WHERE deck = ANY(«'car, open'»)", "a=car b=open", ""},
	{"write ARRAY['a', 'b'], or x IN ('a', 'b')", "SELECT COUNT(*) FROM trips WHERE «deck = ANY('car, open')»", "a=car b=open x=deck", "x IN ('a', 'b')"},
	{"write CAST(NULL AS integer)", "SELECT SUM(n) FROM (SELECT «NULL» AS n FROM trips) q", "", ""},
	{"write CAST(x AS integer)", "SELECT «COUNT(*) / 2.5» % 2 FROM trips", "x=COUNT(*)/2.5", ""},
	{"write CAST(x AS text)", "SELECT «to_char(COUNT(*) > 3, '999')» FROM trips", "x=COUNT(*)>3", ""},
	{"write CAST(… AS text) || …", "SELECT COUNT(*) FROM trips WHERE «luggage || luggage» = '12'", "…=luggage", ""},
	{"write DATE '2026-01-31'", "SELECT COUNT(*) FROM trips WHERE sailed > «make_date(luggage, 1, 2)»", "", ""},
	{"write DATE '2026-01-31', or TIMESTAMP '2026-01-31 18:30:00'", "SELECT COUNT(*) FROM trips WHERE sailed > «to_date('1/2/2026', 'YYYY-MM-DD')»", "", ""},
	{"write DATE '2026-01-31', or TIMESTAMP '2026-01-31 18:30:00'", "SELECT COUNT(*) FROM trips WHERE booked_at > «to_timestamp('1/2/2026', 'YYYY-MM-DD')»", "", "TIMESTAMP '2026-01-31 18:30:00'"},
	{"write FLOOR(EXTRACT(epoch FROM a - b) / 3600)", "SELECT COUNT(*) FROM trips WHERE «date_trunc('hour', booked_at - TIMESTAMP '2024-01-01')» > 3", "a=booked_at b=TIMESTAMP_'2024-01-01'", ""},
	{"write 1", "SELECT SUM(«POWER(fare, 0)») FROM trips", "", ""},
	{"write x IN (1, 2, 3)", "SELECT COUNT(*) FROM trips WHERE «luggage = ANY(1)»", "x=luggage", ""},
	{"write what it stands for: …", "SELECT COUNT(*) AS n, «n» + 1 FROM trips", "…=count(*)", "…"},
}

// Every hint that begins with "write" is SQL that is answered where it is pasted, or is in the list of those not tried yet.
func TestHintsThatSayWrite(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	session := sealedHome(t, "ferry")
	list, err := os.ReadFile("testdata/hints.txt")
	if err != nil {
		t.Fatal(err)
	}
	untried := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		untried[strings.TrimSuffix(line, "\n")] = true
	}
	tried := map[string]bool{}
	for _, c := range pasted {
		tried[c.hint] = true
		before, rest, _ := strings.Cut(c.sql, "«")
		bad, after, _ := strings.Cut(rest, "»")
		_, err := session.Explain(t.Context(), Question{SQL: before + bad + after})
		message, hint := refusal(err)
		good := c.part // by default, the hint up to its first alternative or explanation
		if good == "" {
			good = strings.TrimPrefix(c.hint, "write ")
			for _, end := range []string{" for ", ", or ", " or ", "; ", ", which "} {
				good, _, _ = strings.Cut(good, end)
			}
		}
		if !strings.Contains(c.hint, good) {
			t.Errorf("%q does not say %s", c.hint, good)
		}
		for _, as := range strings.Fields(c.as) {
			name, own, _ := strings.Cut(as, "=")
			own = strings.ReplaceAll(own, "_'", " '")
			if name == "…" {
				good = strings.ReplaceAll(good, name, own)
			} else {
				good = regexp.MustCompile(`\b`+name+`\b`).ReplaceAllString(good, own)
			}
		}
		if !regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(c.hint), "…", ".*") + "$").MatchString(hint) {
			t.Errorf("%s: %s\nthe hint is %q, not %q", c.sql, message, hint, c.hint)
		} else if _, err := session.Explain(t.Context(), Question{SQL: before + good + after}); err != nil {
			t.Errorf("%s: the hint gives %s, which is refused: %v", c.sql, before+good+after, err)
		}
	}
	found := map[string]bool{}
	for _, hint := range hintsOf(t, "query", "bind", "plan", "post", "free") {
		if !strings.HasPrefix(hint, "write ") {
			continue
		}
		found[hint] = true
		if tried[hint] == untried[hint] {
			t.Errorf("the hint %q must be tried by a question in the list pasted, or (before it is) be in testdata/hints.txt", hint)
		}
	}
	for hint := range untried {
		if !found[hint] {
			t.Errorf("testdata/hints.txt has %q, which no source has", hint)
		}
	}
	if len(found) < 80 || len(untried) > mostUntried {
		t.Errorf("%d hints were found, and %d of them are not tried: at most %d may be", len(found), len(untried), mostUntried)
	}
}

// hintsOf returns the hints in the sources of packages, as the calls of Refuse and RefuseHere and the fields Hint have
// them. What is not a constant is … in them.
func hintsOf(t *testing.T, packages ...string) (out []string) {
	t.Helper()
	for _, name := range packages {
		files, err := filepath.Glob("../internal/" + name + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(name, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if name := calledName(n); (name == "Refuse" || name == "RefuseHere") && len(n.Args) > 2 {
						out = append(out, constantText(n.Args[1]))
					}
				case *ast.KeyValueExpr:
					if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Hint" {
						out = append(out, constantText(n.Value))
					}
				}
				return true
			})
		}
	}
	return out
}

func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

func constantText(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(x.Value)
		return text
	case *ast.BinaryExpr:
		return constantText(x.X) + constantText(x.Y)
	}
	return "…"
}

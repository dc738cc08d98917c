package curator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

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
		{"«SELECT passenger, SUM(fare) FROM trips WHERE fare > 3 GROUP BY passenger»", "SELECT avg(s) FROM (SELECT passenger, sum(fare) AS s FROM trips WHERE fare > 3 GROUP BY passenger) AS q"},
		{"«SELECT passenger, SUM(fare) AS total, COUNT(*), COUNT(fare) FROM trips»", "SELECT avg(total), avg(n), avg(n2) FROM (SELECT passenger, sum(fare) AS total, count(*) AS n, count(fare) AS n2 FROM trips GROUP BY passenger) AS q"},
		{"«SELECT route, passenger, SUM(fare) / COUNT(*) FROM trips GROUP BY route, passenger»", "SELECT route, avg(x) FROM (SELECT route, passenger, sum(fare) / count(*) AS x FROM trips GROUP BY route, passenger) AS q GROUP BY route"},
		{"«SELECT passenger, MAX(fare) FROM trips GROUP BY 1 HAVING COUNT(*) > 3»", "SELECT avg(x) FROM (SELECT passenger, max(fare) AS x FROM trips GROUP BY passenger HAVING count(*) > 3) AS q"},
		{"«SELECT passenger, fare FROM trips»", "SELECT avg(n) FROM (SELECT passenger, count(*) AS n FROM trips GROUP BY passenger) AS q"},
		{"«SELECT passenger, MIN(route), MODE(fare) FROM trips GROUP BY passenger»", "SELECT avg(n) FROM (SELECT passenger, count(*) AS n"},
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

// pasted has a refused question for a hint that begins with "write": the part between « and » is what the hint
// replaces. as maps the words that stand for the question's own in the hint, with ␣ for a space; without an entry for
// …, it is what the refusal says there. part is the tried part of a hint with several. Each hint of the planner's
// sources is here.
var pasted = []struct{ hint, sql, as, part string }{
	{"write EXTRACT(epoch FROM a - b) / 86400 for days, or EXTRACT(epoch FROM a - b) / 3600 for hours", "SELECT AVG(ABS(«booked_at - TIMESTAMP '2024-01-01'»)) FROM trips", "a=booked_at b=TIMESTAMP␣'2024-01-01'", ""},
	{"write …(EXTRACT(epoch FROM …) / 86400) for days, without the division for seconds", "SELECT «AVG(booked_at - TIMESTAMP '2024-01-01')» FROM trips", "", ""},
	{"write …(EXTRACT(epoch FROM …) / 86400) for days, without the division for seconds", "SELECT «AVG(AGE(sailed, reserved))» FROM trips", "", ""},
	{"write …(… - DATE '1970-01-01'), a number of days", "SELECT «STDDEV(sailed)» FROM trips", "", "…(… - DATE '1970-01-01')"},
	{"write …(EXTRACT(epoch FROM …)), in seconds since 1970-01-01", "SELECT «AVG(booked_at)» FROM trips", "", "…(EXTRACT(epoch FROM …))"},
	{"write …(EXTRACT(hour FROM …) * 60 + EXTRACT(minute FROM …)), in minutes", "SELECT «AVG(booked_at::time)» FROM trips", "", "…(EXTRACT(hour FROM …) * 60 + EXTRACT(minute FROM …))"},
	{"write COUNT(DISTINCT …), or group by it", "SELECT «AVG(route)» FROM trips", "", ""},
	{"write EXTRACT(epoch FROM a - b) / 86400 for days", "SELECT AVG(«EXTRACT(epoch FROM AGE(booked_at, TIMESTAMP '2024-01-01'))») FROM trips", "a=booked_at b=TIMESTAMP␣'2024-01-01'", ""},
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
	{"write CAST(… AS text) for …", "SELECT COUNT(*) FROM trips WHERE «luggage» LIKE '1%'", "…=luggage", ""},
	{"write ASC or DESC", "SELECT route, COUNT(*) AS n FROM trips GROUP BY route ORDER BY n «USING >»", "", ""},
	{"write WITH", "«WITH RECURSIVE» a AS (SELECT fare FROM trips) SELECT SUM(fare) FROM a", "", ""},
	{"write OPTIONS(epsilon = 1, max_groups_contributed = 2)", "SELECT WITH DIFFERENTIAL_PRIVACY «OPTIONS(epsilon 1)» COUNT(*) FROM trips", "", ""},
	{"write the decimal itself, such as 0.33", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=«1/3») COUNT(*) FROM trips", "", "0.33"},
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
	{"write PERCENTILE_DISC(…) WITHIN GROUP (ORDER BY …)", "SELECT COUNT(*) FROM (SELECT passenger, «MEDIAN(sailed)» AS m FROM trips GROUP BY passenger) q WHERE m > DATE '2024-02-01'", "", ""},
	{"write MIN or MAX in its place, as in (SELECT MAX(x) FROM t); or a condition, such as WHERE x >= 10", "SELECT COUNT(*) FROM trips WHERE route = «(SELECT route FROM routes ORDER BY route LIMIT 1)»", "x=route t=routes", "(SELECT MAX(x) FROM t)"},
	{"write MODE() WITHIN GROUP (ORDER BY x) for the most frequent value", "SELECT «MEDIAN(route)» FROM trips", "x=route", ""},
	{"write APPROX_QUANTILES(x, 4) for quartiles, which are x_0 to x_4", "SELECT «APPROX_QUANTILES(fare, 500)» FROM trips", "x=fare", ""},
	{"write a constant such as 0.5, which is the median", "SELECT PERCENTILE_CONT(«luggage») WITHIN GROUP (ORDER BY fare) FROM trips", "", "0.5"},
	{"write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) …, which shows exactly the public table's groups", "«SELECT» r.route, COUNT(*) FROM trips RIGHT JOIN (SELECT DISTINCT route FROM routes) r ON trips.route = r.route GROUP BY r.route", "", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS)"},
	{"write GROUP BY …", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) r.route, COUNT(*) FROM trips RIGHT JOIN (SELECT DISTINCT route FROM routes) r ON trips.route = r.route «GROUP BY trips.route»", "…=r.route", ""},
	{"write (a, b) = (1, 2), or (a, b) IN ((1, 2), (3, 4))", "SELECT COUNT(*) FROM trips WHERE «(luggage, children) = (1, 2, 3)»", "a=luggage b=children", ""},
	{"write (a, b) = (1, 2), or (a, b) IN ((1, 2), (3, 4))", "SELECT COUNT(*) FROM trips WHERE «(luggage, children) = (1, 2, 3)»", "a=luggage b=children", "(a, b) IN ((1, 2), (3, 4))"},
	{"write ARRAY['a', 'b'], or x IN ('a', 'b')", "SELECT COUNT(*) FROM trips WHERE deck = ANY(«'car, open'»)", "a=car b=open", ""},
	{"write ARRAY['a', 'b'], or x IN ('a', 'b')", "SELECT COUNT(*) FROM trips WHERE «deck = ANY('car, open')»", "a=car b=open x=deck", "x IN ('a', 'b')"},
	{"write CAST(NULL AS integer)", "SELECT SUM(n) FROM (SELECT «NULL» AS n FROM trips) q", "", ""},
	{"write CAST(x AS integer)", "SELECT «COUNT(*) / 2.5» % 2 FROM trips", "x=COUNT(*)/2.5", ""},
	{"write CAST(x AS text)", "SELECT «to_char(COUNT(*) > 3, '999')» FROM trips", "x=COUNT(*)>3", ""},
	{"write CAST(… AS text) || …", "SELECT COUNT(*) FROM trips WHERE «luggage || luggage» = '12'", "…=luggage", ""},
	{"write DATE '2026-01-31'", "SELECT COUNT(*) FROM trips WHERE sailed > «make_date(2023, 2, 29)»", "", ""},
	{"write DATE '2026-01-31', or TIMESTAMP '2026-01-31 18:30:00'", "SELECT COUNT(*) FROM trips WHERE sailed > «to_date('1/2/2026', 'YYYY-MM-DD')»", "", ""},
	{"write DATE '2026-01-31', or TIMESTAMP '2026-01-31 18:30:00'", "SELECT COUNT(*) FROM trips WHERE booked_at > «to_timestamp('1/2/2026', 'YYYY-MM-DD')»", "", "TIMESTAMP '2026-01-31 18:30:00'"},
	{"write FLOOR(EXTRACT(epoch FROM a - b) / 3600)", "SELECT COUNT(*) FROM trips WHERE «date_trunc('hour', booked_at - TIMESTAMP '2024-01-01')» > 3", "a=booked_at b=TIMESTAMP␣'2024-01-01'", ""},
	{"write 1", "SELECT SUM(«POWER(fare, 0)») FROM trips", "", ""},
	{"write x IN (1, 2, 3)", "SELECT COUNT(*) FROM trips WHERE «luggage = ANY(1)»", "x=luggage", ""},
	{"write what it stands for: …", "SELECT COUNT(*) AS n, «n» + 1 FROM trips", "…=count(*)", "…"},
	{"write (SELECT DISTINCT x FROM t), where x is a column of the public table t", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) r.route, COUNT(*) FROM trips RIGHT JOIN «(SELECT DISTINCT route FROM routes WHERE km > 3)» r ON trips.route = r.route GROUP BY r.route", "x=route t=routes", "(SELECT DISTINCT x FROM t)"},
	{"write *", "SELECT «q.*» FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) p", "", ""},
	{"write CLIPPED(x, bounds => (0, 100)), or CLIPPED(x)", "SELECT «CLIPPED(DISTINCT fare)» FROM trips", "x=fare", ""},
	{"write CLIPPED(x, bounds => (0, 100)), or CLIPPED(x)", "SELECT «CLIPPED(DISTINCT fare)» FROM trips", "x=fare", "CLIPPED(x)"},
	{"write CLIPPED(x, bounds => (low, high))", "SELECT «CLIPPED(passenger)» FROM trips", "x=passenger low=1 high=900", ""},
	{"write EXTRACT(year FROM AGE(CURRENT_DATE, day))", "SELECT AVG(«EXTRACT(year FROM AGE(sailed, reserved, booked_at))») FROM trips", "day=sailed", ""},
	{"write EXTRACT(year FROM AGE(CURRENT_DATE, day))", "SELECT «AGE(COUNT(*), 3)» FROM trips GROUP BY sailed", "day=sailed", ""},
	{"write EXTRACT(year FROM day), or date_trunc('month', day)", "SELECT «date_trunc(route, sailed)», COUNT(*) FROM trips GROUP BY 1", "day=sailed", ""},
	{"write EXTRACT(year FROM day), or date_trunc('month', day)", "SELECT «date_trunc(route, sailed)», COUNT(*) FROM trips GROUP BY 1", "day=sailed", "date_trunc('month', day)"},
	{"write HAVING", "SELECT SUM(n) FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY 1) q «WHERE» SUM(n) > 3", "", ""},
	{"write INTERVAL '7 days', or n * INTERVAL '1 day'", "SELECT COUNT(*) FROM trips WHERE booked_at > CURRENT_TIMESTAMP - «make_interval(days => luggage)»", "", ""},
	{"write INTERVAL '7 days', or n * INTERVAL '1 day'", "SELECT COUNT(*) FROM trips WHERE booked_at > CURRENT_TIMESTAMP - «make_interval(days => luggage)»", "n=luggage", "n * INTERVAL '1 day'"},
	{"write JOIN … ON a.x = b.x", "SELECT COUNT(*) FROM trips «CROSS JOIN passengers»", "…=passengers a=trips b=passengers x=passenger", ""},
	{"add … to WHERE", "SELECT COUNT(*) FROM trips, passengers WHERE «TRUE»", "", "…"},
	{"add … to WHERE", "SELECT COUNT(*) FROM trips t, routes r WHERE «TRUE»", "", "…"},
	{"write JOIN, or LEFT JOIN from the table of persons: groups of known keys (values, values_from) are shown even if they are empty; or, with PUBLIC_GROUPS, keep (SELECT DISTINCT x FROM p)", "SELECT COUNT(*) FROM trips «RIGHT JOIN» routes ON trips.route = routes.route", "", "JOIN"},
	{"write NOT EXISTS (SELECT … WHERE t.a = s.a AND t.b = s.b)", "SELECT COUNT(*) FROM trips t WHERE «(passenger, route) NOT IN (SELECT passenger, route FROM trips)»", "…=1␣FROM␣trips␣s a=passenger b=route", ""},
	{"write ON t.x = p.x, where x is a column of the public table", "SELECT COUNT(*) FROM trips t JOIN routes p «ON t.fare > p.km»", "x=route", "ON t.x = p.x"},
	{"write OR … IS NULL", "SELECT COUNT(*) FROM trips WHERE agent = 'Sun Tours' «OR agent IN (NULL)»", "…=agent", ""},
	{"write USING (…), or ON t.x = p.…; put other conditions into a subquery", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) r.route, COUNT(*) FROM trips RIGHT JOIN (SELECT DISTINCT route FROM routes) r «ON trips.route = r.route AND trips.fare > 3» GROUP BY r.route", "t=trips p=r x=route", "ON t.x = p.…"},
	{"write WITH name AS (SELECT …)", "«WITH a AS (DELETE FROM trips RETURNING fare)» SELECT SUM(fare) FROM a", "name=a …=fare␣FROM␣trips", ""},
	{`write \\ for a backslash`, `SELECT COUNT(*) FROM trips WHERE agent LIKE 'a«\»'`, "", ""},
	{"write a constant, such as 1", "SELECT route, lag(n, «n») OVER (ORDER BY route) FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY 1) q", "", "1"},
	{"write a constant of 9, 0, a point, commas, FM and MI, such as 'FM999,999.00'", "SELECT to_char(COUNT(*), «route») FROM trips GROUP BY route", "", "'FM999,999.00'"},
	{"write a constant of YYYY, MM, DD, Mon, Month, Dy, Day, Q, IW, IYYY, DDD, HH24, HH12, AM, MI, SS, and signs between them, such as 'YYYY-MM'", "SELECT to_char(sailed, «'XX'»), COUNT(*) FROM trips GROUP BY 1", "", "'YYYY-MM'"},
	{"write a constant such as '15 minutes'; for months, write date_trunc('month', t)", "SELECT date_bin(«route», booked_at, TIMESTAMP '2000-01-01'), COUNT(*) FROM trips GROUP BY 1", "", "'15 minutes'"},
	{"write a constant such as '15 minutes'; for months, write date_trunc('month', t)", "SELECT «date_bin('1 month', booked_at, TIMESTAMP '2000-01-01')», COUNT(*) FROM trips GROUP BY 1", "t=booked_at", "date_trunc('month', t)"},
	{"write a constant, such as … 10", "SELECT route, COUNT(*) FROM trips GROUP BY route «LIMIT COUNT(*)»", "", "… 10"},
	{"write a number, such as 5", "SELECT COUNT(*) FROM trips WHERE luggage = «B'101'»", "", "5"},
	{"write a number such as 2, NULL, or a name", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=«fare + 2») COUNT(*) FROM trips", "", "2"},
	{"write a smaller number, or UNBOUNDED", "SELECT route, sum(n) OVER (ORDER BY route ROWS «100000000» PRECEDING) FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY 1) q", "", "UNBOUNDED"},
	{"write it out, as in … => 2, or => (0, 100)", "SELECT COUNT(*, «weight => 1 + 1») FROM trips", "", "… => 2"},
	{"write ….0", "SELECT COUNT(*) FROM trips WHERE fare > «99999999999999999999»", "", ""},
	{"write ….0", "SELECT COUNT(*) FROM trips WHERE fare > «9000000000000000000»", "", ""},
	{"write INTERVAL '1 day'", "SELECT COUNT(*) FROM (SELECT sailed AS d, COUNT(*) AS n FROM trips GROUP BY 1) q WHERE now() - TIMESTAMP '2020-01-01' > «'soon'»", "", ""},
	{"write …", "SELECT COUNT(*) FROM trips WHERE sailed > «'1/2x'»", "", ""},
	{"write …", "SELECT COUNT(*) FROM trips WHERE booked_at - TIMESTAMP '2020-01-01' > «'soon'»", "", ""},
	{"write …", "SELECT «q.route» FROM (SELECT route, COUNT(*) FROM trips GROUP BY 1) p", "", ""},
	{"write ….…", "SELECT COUNT(*) FROM trips WHERE «a.b.c.trips.fare» > 3", "", ""},
	{"write max_rows_quantile=0.9", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=auto, «max_rows_quantile=0») COUNT(*) FROM trips", "", ""},
	{"write real", "SELECT SUM(fare::«numeric(20,17)») FROM trips", "", ""},
	{"write width_bucket(x, 0, 100, 10)", "SELECT «width_bucket(fare, 10, 3, 4)», COUNT(*) FROM trips GROUP BY 1", "x=fare", ""},
	{"write a constant, such as 'a%'", "SELECT COUNT(*) FROM trips WHERE agent LIKE «deck»", "", "'a%'"},
	{"write LIKE 'a%'", "SELECT r FROM (SELECT route AS r, agent AS a, COUNT(*) AS n FROM trips GROUP BY 1, 2) q WHERE r «LIKE a»", "", ""},
	{"write weight => 2 instead; or max_rows_contributed=3", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=auto) COUNT(*), SUM(fare, «epsilon => 1») FROM trips", "", "weight => 2"},
	{"write … => 2", "SELECT SUM(fare, «weight => (1, 2)») FROM trips", "", ""},
	{"write a number, such as 0.5", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=«0») COUNT(*) FROM trips", "", "0.5"},
	{"write … OVER (ORDER BY x)", "SELECT «row_number()» FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY 1) q", "x=route", ""},
	{"write PARTITION BY…", "SELECT AVG(fare) FROM (SELECT fare, ROW_NUMBER() OVER («PARTITION BY route» ORDER BY fare) AS n FROM trips) q WHERE n = 1", "", "PARTITION BY…"},
	{"write PARTITION BY… alone", "SELECT AVG(n) FROM (SELECT SUM(fare) OVER («PARTITION BY passenger, route») AS n FROM trips) q", "", "PARTITION BY…"},
	{"write …(x)", "SELECT AVG(n) FROM (SELECT «lag(fare, 1, 2, 3)» OVER (PARTITION BY passenger ORDER BY sailed) AS n FROM trips) q", "x=fare", ""},
	{"write a - b for days", "SELECT AVG(«EXTRACT(epoch FROM AGE(sailed, reserved))») FROM trips", "a=sailed b=reserved", ""},
	{"write a join, or LATERAL (SELECT COUNT(*) AS n FROM t WHERE t.person = p.person) q", "SELECT SUM(q.n) FROM trips CROSS JOIN «LATERAL (SELECT points AS n FROM passengers WHERE passengers.passenger = trips.passenger LIMIT 1) q»", "t=passengers p=trips person=passenger", "LATERAL (SELECT COUNT(*) AS n FROM t WHERE t.person = p.person) q"},
}

// Every hint that begins with "write" is SQL that is answered where it is pasted.
func TestHintsThatSayWrite(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	session := sealedHome(t, "ferry")
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
			own = strings.ReplaceAll(own, "␣", " ")
			if name == "…" {
				good = strings.ReplaceAll(good, name, own)
			} else {
				good = regexp.MustCompile(`\b`+name+`\b`).ReplaceAllString(good, own)
			}
		}
		said := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(c.hint), "…", "(.*?)") + "$").FindStringSubmatch(hint)
		for _, own := range said[min(1, len(said)):] { // the question's own words where as does not give them
			good = strings.Replace(good, "…", own, 1)
		}
		if said == nil {
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
		if !tried[hint] {
			t.Errorf("the hint %q must be tried by a question in the list pasted", hint)
		}
	}
	for hint := range tried {
		if strings.HasPrefix(hint, "write ") && !found[hint] {
			t.Errorf("the list pasted has %q, which no source has", hint)
		}
	}
	if len(found) < 70 {
		t.Errorf("only %d hints were found", len(found))
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

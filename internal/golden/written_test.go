package golden

import "strings"

// clinicSQL are questions of every form in docs/reference/sql.md, its own statements among them.
var clinicSQL = strings.Split(strings.TrimSpace(`
SELECT city, COUNT(*) AS visits, ROUND(AVG(cost), 2) AS mean FROM visits WHERE day BETWEEN DATE '2025-01-01' AND DATE '2025-12-31' AND NOT cancelled GROUP BY city HAVING COUNT(*) > 100 ORDER BY visits DESC LIMIT 10;
SELECT region, COUNT(*) AS n, MEDIAN(income) AS middle, PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY income) AS rich FROM people GROUP BY region HAVING MEDIAN(income) > 20000
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=auto, max_rows_quantile=0.95) SUM(cost) FROM visits
SELECT SUM(cost) / COUNT(*) FROM visits
SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING COUNT(*) > 100 ORDER BY n DESC LIMIT 5
SELECT CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'senior' END AS band, COUNT(*) FROM visits GROUP BY CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'senior' END
SELECT FLOOR(age / 10) AS decade, COUNT(*) FROM visits GROUP BY FLOOR(age / 10)
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, group_selection_strategy=PUBLIC_GROUPS) ward, COUNT(*) FROM visits RIGHT OUTER JOIN (SELECT DISTINCT ward FROM wards) USING (ward) GROUP BY ward
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, group_selection_strategy=PUBLIC_GROUPS) w.ward, SUM(cost) FROM (SELECT DISTINCT ward FROM wards) w LEFT JOIN visits v ON v.ward = w.ward GROUP BY w.ward
SELECT product, COUNT(*), SUM(cost) FROM visits GROUP BY product
SELECT product FROM visits GROUP BY product
SELECT name, COUNT(*) FROM people GROUP BY name
SELECT name, smoker, AVG(income) FROM people GROUP BY name, smoker
SELECT region, smoker, GROUPING(region, smoker) AS level, COUNT(*), AVG(age) FROM people GROUP BY ROLLUP (region, smoker)
SELECT n.region, SUM(o.total) FROM orders o JOIN nations n ON o.nation = n.id GROUP BY n.region
SELECT AVG(n), STDDEV(spent) FROM (SELECT person, COUNT(*) AS n, SUM(cost) AS spent FROM visits GROUP BY person HAVING MAX(cost) > 10) q
SELECT COUNT(*) FROM patients p JOIN (SELECT person FROM visits GROUP BY person) v ON p.person = v.person
SELECT COUNT(*) FROM patients p LEFT JOIN (SELECT person FROM visits GROUP BY person) v ON p.person = v.person WHERE v.person IS NULL
SELECT COUNT(*) FROM visits
SELECT COUNT(*) FROM people
SELECT COUNT(DISTINCT person) FROM visits
SELECT city, COUNT(DISTINCT person) FROM visits GROUP BY city
SELECT city, cancelled, COUNT(DISTINCT person), COUNT(*) FROM visits GROUP BY CUBE (city, cancelled)
SELECT COUNT(DISTINCT city), COUNT(DISTINCT cost > 100), COUNT(DISTINCT product), APPROX_COUNT_DISTINCT(age) FROM visits
SELECT COUNT(DISTINCT name), COUNT(DISTINCT age) FROM people
SELECT COUNT(cost), COUNT(married), COUNT(*) FILTER (WHERE married) FROM visits
SELECT SUM(cost), AVG(cost), SUM(age), AVG(age) FROM visits
SELECT VAR_POP(cost), VAR_SAMP(cost), VARIANCE(cost), STDDEV_POP(cost), STDDEV_SAMP(cost), STDDEV(cost) FROM visits
SELECT COVAR_POP(cost, age), COVAR_SAMP(cost, age), CORR(cost, age) FROM visits
SELECT REGR_SLOPE(income, age), REGR_INTERCEPT(income, age), REGR_R2(income, age), REGR_COUNT(income, age), REGR_AVGX(income, age), REGR_AVGY(income, age) FROM people
SELECT smoker, STDDEV(income) AS s, REGR_SLOPE(height, age) FROM people GROUP BY smoker
SELECT CLIPPED(cost), CLIPPED(cost, bounds => (0, 100)), CLIPPED(age, bounds => (30, 60)) FROM visits
SELECT SUM(cost, bounds => (0, 50)), SUM(age, contribution_bounds_per_row => (18, 65)), AVG(cost, bounds => (0, 200)), VAR_POP(age, bounds => (20, 40)) FROM visits
SELECT city, SUM(cost, contribution_bounds_per_group => (0, 300)), COUNT(*, contribution_bounds_per_group => (0, 1)) FROM visits GROUP BY city
SELECT SUM(age, contribution_bounds_per_group => (20, 90)) FROM people
SELECT SUM(cost, bounds => auto) FROM visits
SELECT AVG(raw, contribution_bounds_per_row => (-1e6, 1e6), bounds => auto), SUM(cost, bounds => auto) FROM visits
SELECT city, SUM(cost, bounds => auto), COUNT(*) FROM visits GROUP BY ROLLUP (city)
SELECT SUM(LEAST(GREATEST(raw, -100), 2000)), COUNT(raw), COUNT(CASE WHEN raw > 0 THEN 1 END) FROM visits
SELECT COUNT(*), SUM(cost, weight => 3), AVG(age, weight => 0.5) FROM visits
SELECT COUNT(*, epsilon => 0.1), SUM(income, epsilon => 0.2) FROM people
SELECT COUNT(*, epsilon => 0.1), SUM(income), AVG(age) FROM people
SELECT MEDIAN(age) FROM visits
SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY cost), PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY cost DESC) FROM visits
SELECT PERCENTILE_DISC(age, 0.9), PERCENTILE_CONT(income, 0.1), MEDIAN(born) FROM people
SELECT APPROX_QUANTILES(age, 4) AS q FROM people
SELECT city, MEDIAN(cost), COUNT(*) FROM visits GROUP BY city
SELECT city, MEDIAN(day) FROM visits GROUP BY ROLLUP (city)
SELECT MODE() WITHIN GROUP (ORDER BY city), MODE(age) FROM visits
SELECT smoker, MODE(party), MEDIAN(income) FILTER (WHERE age > 30) FROM people GROUP BY smoker
SELECT region, smoker, MODE(party), MEDIAN(age) FROM people GROUP BY GROUPING SETS ((region, smoker), region, ())
SELECT region, smoker, party, COUNT(*), SUM(income) FROM people GROUP BY CUBE (region, smoker, party)
SELECT region, smoker, party, COUNT(*) FROM people GROUP BY region, ROLLUP (smoker, party)
SELECT party, smoker, AVG(income) FROM people GROUP BY GROUPING SETS ((party), (smoker), (party))
SELECT EXTRACT(year FROM day), COUNT(*) FROM visits GROUP BY 1
SELECT date_trunc('month', day) AS m, COUNT(*), AVG(cost) FROM visits WHERE day >= DATE '2025-06-01' AND day < DATE '2025-09-01' GROUP BY m
SELECT date_part('dow', day), SUM(cost) FROM visits GROUP BY 1
SELECT EXTRACT(quarter FROM day), EXTRACT(isodow FROM day) < 6, COUNT(*) FROM visits GROUP BY 1, 2
SELECT WIDTH_BUCKET(cost, 0, 5000, 5) AS b, COUNT(*) FROM visits GROUP BY b
SELECT CAST(cost / 1000 AS integer) AS k, COUNT(*) FROM visits GROUP BY k
SELECT age, COUNT(*) FROM people GROUP BY age
SELECT age, COUNT(*) FROM people GROUP BY age
SELECT ROUND(age / 20), SIGN(age - 40), COUNT(*) FROM visits GROUP BY 1, 2
SELECT COALESCE(region, 'none') AS r, COUNT(*) FROM people GROUP BY r
SELECT NULLIF(party, 'I') AS p, COUNT(*) FROM people GROUP BY p
SELECT LEAST(age, 40), COUNT(*) FROM people WHERE age > 35 GROUP BY 1
SELECT SUM(SQRT(cost)), SUM(LN(cost + 1)), SUM(EXP(-age / 10)), SUM(ABS(cost - 100)), SUM(FLOOR(cost)), SUM(CEIL(cost)), SUM(-cost), SUM(age % 7) FROM visits
SELECT SUM(cost * age), SUM(cost / age), SUM((age - 40) * (age - 40)) FROM visits
SELECT SUM(CASE WHEN cancelled THEN 0 WHEN cost > 100 THEN 100 ELSE cost END), SUM(married::integer) FROM visits
SELECT COUNT(*) FROM visits WHERE product LIKE 'p%l'
SELECT COUNT(*) FROM visits WHERE product NOT LIKE '%_1' AND city IN ('Arnhem', 'Delft') AND age BETWEEN 30 AND 60 AND married IS NOT NULL
SELECT COUNT(*) FROM visits WHERE married IS TRUE OR cancelled IS NOT FALSE OR married IS UNKNOWN
SELECT COUNT(*) FROM visits WHERE NOT (cost < 10 OR cost IS NULL) AND city <> 'Breda'
SELECT COUNT(*) FROM people WHERE party = 'D'
SELECT party, COUNT(*) FROM people WHERE party IN ('D', 'R') AND smoker GROUP BY party
SELECT COUNT(*), AVG(income) FROM people WHERE party <> 'I' AND age > 30
SELECT COUNT(*) FROM visits WHERE party = 'R'
SELECT city, SUM(cost) FROM visits WHERE party = 'D' AND cost > 10 GROUP BY city
SELECT COUNT(*) FROM visits WHERE party = 'D' OR age > 40
WITH adults AS (SELECT person, cost, city FROM visits WHERE age >= 18) SELECT city, AVG(cost) FROM adults GROUP BY city
WITH a AS (SELECT * FROM visits), b AS (SELECT age AS years, cost FROM a WHERE NOT cancelled) SELECT SUM(cost), MEDIAN(years) FROM b
SELECT COUNT(*) FROM (SELECT age * 2 AS twice FROM people) q WHERE twice > 80
SELECT v.city, COUNT(*), AVG(p.score) FROM visits v JOIN patients p ON v.person = p.person GROUP BY v.city
SELECT COUNT(*), SUM(p.score) FROM visits v LEFT JOIN patients p ON v.person = p.person AND p.score > 0
SELECT COUNT(*) FROM patients p, visits v WHERE p.person = v.person AND p.smoker
SELECT w.beds > 15, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY 1
SELECT n.region, COUNT(DISTINCT customer), SUM(total) FROM orders o LEFT JOIN nations n ON o.nation = n.id GROUP BY n.region
SELECT SUM(n.inhabitants) FROM orders o JOIN nations n ON o.nation = n.id AND n.region = 'Asia'
SELECT SUM(price * quantity), COUNT(*) FROM lines
SELECT quantity, COUNT(*), AVG(price) FROM lines GROUP BY quantity
SELECT n.stars, SUM(l.price) FROM lines l JOIN notes n ON l.number = n.number GROUP BY n.stars
SELECT COUNT(*), SUM(o.total) FROM orders o JOIN notes n ON o.customer = n.customer AND o.number = n.number WHERE n.stars > 2
SELECT COUNT(*), AVG(x) FROM (SELECT person, cost AS x FROM visits UNION ALL SELECT person, score FROM patients) u
SELECT b, COUNT(*) FROM (SELECT person, MAX(age) > 60 AS b, AVG(cost) AS c FROM visits GROUP BY person) q GROUP BY b
SELECT MEDIAN(n), AVG(least), SUM(most - least) FROM (SELECT person, COUNT(*) AS n, MIN(age) AS least, MAX(age) AS most FROM visits GROUP BY person) q
SELECT COUNT(*) FROM (SELECT person, BOOL_OR(cancelled) AS once, BOOL_AND(married) AS always, COUNT(DISTINCT city) AS cities FROM visits GROUP BY person) q WHERE once AND cities < 3
SELECT city, AVG(spent) FROM (SELECT person, city, SUM(cost) FILTER (WHERE NOT cancelled) AS spent FROM visits GROUP BY person, city) q GROUP BY city
SELECT MODE(n.stars), MEDIAN(l.price) FROM lines l JOIN notes n ON l.number = n.number
SELECT n.region, COUNT(*) FROM orders o JOIN nations n ON o.nation = n.id GROUP BY ROLLUP (n.region)
SELECT SUM(o.total, bounds => auto) FROM orders o JOIN nations n ON o.nation = n.id
SELECT COUNT(DISTINCT total), COUNT(DISTINCT n.region) FROM orders o JOIN nations n ON o.nation = n.id
SELECT number, COUNT(*) FROM orders GROUP BY number
SELECT total, COUNT(*) FROM orders GROUP BY total
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, max_groups_contributed=1) city, COUNT(*), SUM(cost) FROM visits GROUP BY city
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, delta=1e-9, max_groups_contributed=2, min_privacy_units_per_group=5) product, COUNT(*) FROM visits GROUP BY product
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=2, privacy_unit_column=person) AVG(cost) FROM visits
SELECT WITH ANONYMIZATION OPTIONS(epsilon=0.4, kappa=1) city, ANON_COUNT(*), ANON_SUM(cost), ANON_AVG(age) FROM visits GROUP BY city
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(target_relative_error=0.5) COUNT(*) FROM people
SELECT COUNT(*) - COUNT(*) FILTER (WHERE smoker) AS rest, ROUND(SUM(income) / COUNT(*), -2), VAR_POP(age) / 2 FROM people
SELECT party, COUNT(*) AS n, AVG(age) FROM people GROUP BY party HAVING AVG(age) > 10 AND COUNT(*) > 0 ORDER BY 2 DESC NULLS LAST, party OFFSET 1
SELECT party, COUNT(*) FROM people GROUP BY party ORDER BY AVG(income) DESC FETCH FIRST 2 ROWS ONLY
SELECT COUNT(*) + 1 AS more FROM people
SELECT COUNT(*) FROM people WHERE 1 = 2
SELECT COUNT(*) FROM people WHERE income > 0x10 AND height < 1_80.5
SELECT MIN(age) FROM people
SELECT * FROM people
SELECT COUNT(*) FROM nowhere
SELECT COUNT(*) FROM people WHERE region = 'nort'
SELECT SUM(raw) FROM visits
SELECT income, COUNT(*) FROM people GROUP BY income
SELECT COUNT(*) FROM visits a JOIN visits b ON a.city = b.city
SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person
SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person JOIN visits c ON c.person = a.person
DELETE FROM people
SELECT COUNT(
`), "\n")

// clinicAsks are these and the kernel's other primitives, at a price; some are asked in several ways.
func clinicAsks(by, epsilon, rho string) (out []ask) {
	for i, sql := range clinicSQL {
		a := ask{SQL: sql, Analyst: by}
		switch i % 4 {
		case 1:
			a.Epsilon = epsilon
		case 2:
			a.Rho = rho
		case 3:
			a.Confidence = "0.99"
		}
		out = append(out, a)
	}
	q := func(a ask) {
		a.Analyst = by
		out = append(out, a)
	}
	q(ask{SQL: "SELECT city, COUNT(*) FROM visits GROUP BY city", MaxGroups: 3, Group: 4})
	q(ask{SQL: "SELECT city, COUNT(*), SUM(cost) FROM visits GROUP BY city", MaxRows: "1"})
	q(ask{SQL: "SELECT city, COUNT(*), SUM(cost) FROM visits GROUP BY city", MaxRows: "auto"})
	q(ask{SQL: "SELECT MEDIAN(cost), MODE(city), SUM(cost, bounds => (0, 100)) FROM visits", MaxRows: "auto"})
	q(ask{SQL: "SELECT product, COUNT(*) FROM visits GROUP BY product", Delta: "2e-9", Other: true, MinUnits: 3})
	q(ask{
		SQL: "SELECT product, cancelled, SUM(cost) FROM visits GROUP BY product, cancelled", Delta: "2e-9",
		MaxGroups: 2,
	})
	q(ask{
		SQL: "SELECT region, smoker, COUNT(*) FROM people GROUP BY ROLLUP (region, smoker)", Whole: true,
		Epsilon: "0.7",
	})
	q(ask{SQL: "SELECT COUNT(*), AVG(age) FROM people", Within: "20", At: "90%"})
	q(ask{SQL: "SELECT COUNT(*) FROM people", Within: "30%"})
	for _, sql := range []string{
		"SELECT COUNT(*) FROM people",
		"SELECT region, COUNT(*), AVG(income) FROM people GROUP BY region",
		"SELECT product, COUNT(*) FROM visits GROUP BY product",
		"SELECT city, COUNT(*) FROM visits GROUP BY ROLLUP (city)", "SELECT SUM(cost, bounds => auto) FROM visits",
	} {
		q(ask{Do: "measure", SQL: sql, Epsilon: "0.3"})
	}
	for _, mechanism := range []string{"", "exponential mechanism", "permute and flip", "report noisy max"} {
		q(ask{Do: "select", SQL: "SELECT city, COUNT(*) FROM visits GROUP BY city", Mechanism: mechanism, Epsilon: "0.3"})
		if mechanism != "permute and flip" {
			q(ask{Do: "select", SQL: "SELECT party, SUM(income) FROM people GROUP BY party", Mechanism: mechanism, Best: 2})
		}
	}
	for _, mechanism := range []string{"", "approximate quantiles", "joint exponential mechanism"} {
		q(ask{Do: "rank", SQL: "SELECT age FROM people", Ranks: []string{"0.25", "0.5", "0.75"}, Mechanism: mechanism})
		q(ask{
			Do: "rank", SQL: "SELECT cost FROM visits WHERE NOT cancelled", Ranks: []string{"0.1", "0.9"},
			Mechanism: mechanism, Epsilon: "0.4",
		})
	}
	q(ask{Do: "smooth", SQL: "SELECT age FROM people WHERE smoker"})
	q(ask{Do: "smooth", SQL: "SELECT cost FROM visits"})
	q(ask{
		Do: "moments", SQL: "SELECT age, height FROM people", Blocks: []block{{2, "l2", "200"}},
		Sums: []sum{{Kind: "count"}, {Kind: "first"}, {Kind: "product", Weight: "2"}},
	})
	q(ask{Do: "moments", SQL: "SELECT age, height, income FROM people GROUP BY party", Blocks: []block{{
		2, "l1",
		"300",
	}, {1, "l2", ""}}, Sums: []sum{{Kind: "count"}, {Kind: "first", I: 1}, {Kind: "product", I: 0, J: 1}}})
	q(ask{
		Do: "moments", SQL: "SELECT age, cost FROM visits", Blocks: []block{{2, "l2", ""}},
		Sums: []sum{{Kind: "count"}, {Kind: "first"}}, Centres: [][]float64{{30, 100}, {60, 4000}},
	})
	q(ask{
		Do: "minimize", SQL: "SELECT age / 100, 1, smoker FROM people", Loss: "logistic", Radius: "3",
		Regularise: "20", Rows: 300, Curvature: "0.3",
	})
	q(ask{
		Do: "minimize", SQL: "SELECT age / 100, 1, cost > 1000 FROM visits", Loss: "logistic", Bound: "1.5",
		Radius: "3", Regularise: "30", Rows: 400,
	})
	q(ask{
		Do: "search", SQL: "SELECT age / 100, 1, smoker FROM people", Rows: 300, Trials: 4,
		Candidates: [][2]string{{"20", "2"}, {"40", "1"}},
	})
	q(ask{Do: "line", SQL: "SELECT age, height FROM people", Rows: 250, Epsilon: "1.5"})
	q(ask{Do: "line", SQL: "SELECT age, income FROM people WHERE smoker", Rows: 75, Plain: true})
	q(ask{
		Do: "above", Table: "people", Threshold: "60", Above: 2,
		Stream: []string{
			"SELECT COUNT(*) FROM people WHERE smoker", "SELECT COUNT(*) FROM people WHERE age > 90",
			"SELECT COUNT(*) FROM people WHERE party = 'D'", "SELECT SUM(income) FROM people",
		},
	})
	q(ask{
		Do: "above", Table: "visits", Threshold: "100", Above: 1, Values: true, Most: 200,
		Stream: []string{
			"SELECT COUNT(*) FROM visits WHERE cancelled AND age < 25",
			"SELECT SUM(age, bounds => (0, 50)) FROM visits", "SELECT COUNT(*) FROM visits",
		},
	})

	f := func(a ask) {
		a.Follows = true
		q(a)
	}
	for _, sql := range []string{
		"select count(*) as many from people as p", "SELECT AVG(age), SUM(age) FROM visits",
		"SELECT region, COUNT(*) FROM people GROUP BY region",
		"SELECT FLOOR(age / 10) * 10, COUNT(*) FROM people GROUP BY 1",
		"SELECT age >= 18, COUNT(*) FROM people WHERE age < 60 GROUP BY 1",
		"SELECT smoker, COUNT(*) FROM people GROUP BY smoker",
	} {
		f(ask{SQL: sql})
	}
	f(ask{SQL: "SELECT COUNT(*) FROM people", Combine: true})
	f(ask{SQL: "SELECT smoker, COUNT(*), SUM(income) FROM people GROUP BY smoker", Combine: true, Confidence: "0.9"})
	return out
}

// trainingAsks are trainings of every model: the first ones unfinished.
func trainingAsks() (out []ask) {
	for i, a := range []ask{
		{
			SQL: "SELECT age / 100, height / 250, 1, smoker FROM people", Model: "logistic", Clip: "1", Rate: "1/4",
			Multiplier: "4", Steps: 8, Taken: 3, Rows: 280,
		},
		{
			SQL: "SELECT age / 100, 1, cost / 5000 FROM visits", Model: "linear", Clip: "1", Rate: "1/2", Multiplier: "6",
			Steps: 5, Taken: 0, Rows: 400,
		},
		{
			SQL: "SELECT score / 10.0, 1, 2 FROM patients", Model: "poisson", Clip: "2", Rate: "1", Multiplier: "8",
			Steps: 4, Taken: 4, Rows: 150,
		},
		{
			SQL:   "SELECT age / 100, 1, CASE WHEN party = 'D' THEN 0 WHEN party = 'I' THEN 1 ELSE 2 END FROM people",
			Model: "softmax", Classes: 3, Clip: "1", Rate: "1/3", Multiplier: "5", Steps: 6, Taken: 2, Rows: 300,
		},
		{
			SQL: "SELECT age / 100, 1, smoker FROM people", Model: "network", Classes: 2, Hidden: 3, Activation: "relu",
			Clip: "1", Rate: "1/3", Multiplier: "5", Steps: 3, Taken: 1, Rows: 300,
		},
	} {
		a.Do = "train"
		if a.Delta = "1e-7"; i == 4 {
			a.Delta = "2e-7"
		}
		out = append(out, a)
	}
	return out
}

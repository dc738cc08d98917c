-- Questions as analysts type them, in PostgreSQL's dialect, with habits from other databases.
-- policy: ferry
-- floor: 90

--= answered
select count(*) from trips
--= answered
SELECT COUNT(*) FROM trips WHERE cancelled
--= answered
SELECT COUNT(1) FROM trips
--= answered
SELECT COUNT(passenger) FROM trips
--= answered
SELECT COUNT(DISTINCT passenger) FROM trips WHERE sailed >= '2025-01-01'
--= answered
SELECT SUM(fare), AVG(fare), COUNT(*) FROM trips
--= answered
SELECT route, AVG(fare) FROM trips GROUP BY route ORDER BY AVG(fare) DESC
--= answered
SELECT route, COUNT(*) AS n, ROUND(AVG(fare), 2) AS mean FROM trips GROUP BY route HAVING COUNT(*) > 100 ORDER BY n DESC
--= answered
SELECT route, COUNT(*)*100.0/SUM(COUNT(*)) OVER () AS pct FROM trips GROUP BY route
--= answered
SELECT route, ROUND(100.0 * COUNT(*) / (SELECT COUNT(*) FROM trips), 1) AS pct FROM trips GROUP BY route
--= answered
SELECT channel, COUNT(*) FILTER (WHERE cancelled)::numeric / COUNT(*) AS rate FROM trips GROUP BY channel
--= answered
SELECT channel, AVG(cancelled::int) FROM trips GROUP BY channel
--= answered
SELECT channel, SUM(CASE WHEN cancelled THEN 1 ELSE 0 END) AS lost, COUNT(*) AS total FROM trips GROUP BY channel
--= answered
SELECT EXTRACT(YEAR FROM sailed) AS y, EXTRACT(MONTH FROM sailed) AS m, COUNT(*) FROM trips GROUP BY 1, 2 ORDER BY 1, 2
--= answered
SELECT date_trunc('month', sailed) AS month, SUM(fare) FROM trips WHERE sailed >= '2025-01-01' AND sailed < '2026-01-01' GROUP BY month ORDER BY month
--= answered
SELECT to_char(sailed, 'YYYY-MM') AS month, SUM(fare) FROM trips GROUP BY 1 ORDER BY 1
--= answered
SELECT to_char(sailed, 'Dy') AS weekday, COUNT(*) FROM trips GROUP BY 1
--= answered
SELECT COUNT(*) FROM trips WHERE sailed BETWEEN '2025-06-01' AND '2025-08-31'
--= answered
SELECT COUNT(*) FROM trips WHERE sailed >= CURRENT_DATE - INTERVAL '90 days'
--= answered
SELECT COUNT(*) FROM trips WHERE sailed > now() - interval '1 year'
--= answered
SELECT COUNT(*) FROM trips WHERE EXTRACT(dow FROM sailed) IN (0, 6)
--= answered
SELECT AVG(sailed - reserved) AS days_ahead FROM trips
--= answered
SELECT route, percentile_cont(0.5) WITHIN GROUP (ORDER BY sailed - reserved) AS days FROM trips GROUP BY route
--= answered
SELECT CASE WHEN sailed - reserved <= 7 THEN 'late' WHEN sailed - reserved <= 30 THEN 'normal' ELSE 'early' END AS booking, COUNT(*) FROM trips GROUP BY 1
--= answered
SELECT COUNT(*) FROM trips WHERE sailed >= reserved + 30
--= answered
SELECT COUNT(*) FROM trips WHERE booked_at + interval '1 month' < sailed
--= answered
SELECT AVG(EXTRACT(YEAR FROM CURRENT_DATE) - birth_year) AS age FROM passengers
--= answered
SELECT (2025 - birth_year) / 10 * 10 AS decade, COUNT(*) FROM passengers GROUP BY 1 ORDER BY 1
--= answered
SELECT FLOOR((2025 - birth_year) / 10) * 10 AS decade, COUNT(*) FROM passengers GROUP BY decade ORDER BY decade
--= answered
SELECT width_bucket(points, 0, 50000, 10) AS bucket, COUNT(*) FROM passengers GROUP BY bucket
--= answered
SELECT home, sex, COUNT(*) FROM passengers GROUP BY home, sex ORDER BY home, sex
--= answered
SELECT home, COUNT(*) FROM passengers WHERE sex = 'f' GROUP BY home
--= answered
SELECT sex, AVG(points) FROM passengers WHERE member GROUP BY sex
--= answered
SELECT home, MEDIAN(points) FROM passengers GROUP BY home
--= answered
SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY fare), percentile_cont(0.75) WITHIN GROUP (ORDER BY fare) FROM trips
--= answered
SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY fare) FROM trips
--= answered
SELECT STDDEV(fare), VARIANCE(fare) FROM trips WHERE route = 'Cove Line'
--= answered
SELECT CORR(luggage, children) FROM trips
--= answered
SELECT MODE() WITHIN GROUP (ORDER BY channel) FROM trips
--= answered
SELECT p.home, COUNT(*) FROM trips t JOIN passengers p ON p.passenger = t.passenger GROUP BY p.home
--= answered
SELECT p.home, COUNT(*) FROM trips t JOIN passengers p USING (passenger) WHERE t.route = 'Birch Point' GROUP BY p.home
--= answered
SELECT home, SUM(fare) FROM trips NATURAL JOIN passengers GROUP BY home
--= answered
SELECT p.home, SUM(t.fare) FROM trips t, passengers p WHERE t.passenger = p.passenger GROUP BY p.home
--= answered
SELECT r.harbour, SUM(t.fare) FROM trips t LEFT JOIN routes r ON t.route = r.route GROUP BY r.harbour
--= answered
SELECT SUM(r.km) FROM trips t JOIN routes r ON t.route = r.route
--= answered
SELECT AVG(n) FROM (SELECT passenger, COUNT(*) AS n FROM trips GROUP BY passenger) x
--= answered
SELECT AVG(total) FROM (SELECT passenger, SUM(fare) AS total FROM trips WHERE NOT cancelled GROUP BY passenger) x
--= answered
WITH per AS (SELECT passenger, COUNT(*) AS n FROM trips GROUP BY passenger) SELECT CASE WHEN n = 1 THEN 'once' WHEN n < 5 THEN 'some' ELSE 'many' END AS kind, COUNT(*) FROM per GROUP BY 1
--= answered
SELECT COUNT(*) FROM (SELECT passenger FROM trips GROUP BY passenger HAVING COUNT(*) >= 5) x
--= answered
SELECT COUNT(*) FROM (SELECT DISTINCT passenger FROM trips WHERE route = 'Cove Line') x
--= answered
SELECT COUNT(*) FROM passengers WHERE passenger IN (SELECT passenger FROM trips WHERE route = 'Cove Line')
--= answered
SELECT COUNT(*) FROM passengers WHERE passenger NOT IN (SELECT passenger FROM trips WHERE sailed >= '2025-01-01')
--= answered
SELECT COUNT(*) FROM passengers p WHERE NOT EXISTS (SELECT 1 FROM trips t WHERE t.passenger = p.passenger AND t.sailed >= DATE '2025-10-01')
--= answered
SELECT COUNT(*) FROM passengers p LEFT JOIN trips t ON t.passenger = p.passenger WHERE t.passenger IS NULL
--= answered
SELECT COUNT(*) FROM trips WHERE route IN (SELECT route FROM routes WHERE harbour = 'Outer Pier')
--= refused: this subquery would pair different persons' rows: nothing
SELECT COUNT(*) FROM trips WHERE fare > (SELECT AVG(fare) FROM trips)
--= answered
SELECT route, COUNT(*) FROM trips GROUP BY route ORDER BY COUNT(*) DESC LIMIT 1
--= refused: syntax error at or near "3"
SELECT TOP 3 route, COUNT(*) FROM trips GROUP BY route
--= answered
SELECT DISTINCT route FROM trips
--= answered
SELECT DISTINCT deck FROM trips ORDER BY deck
--= answered
SELECT COALESCE(deck, 'none') AS deck, COUNT(*) FROM trips GROUP BY 1
--= answered
SELECT deck, COUNT(*) FROM trips WHERE deck IS NOT NULL GROUP BY deck
--= answered
SELECT COUNT(*) FROM trips WHERE deck IS DISTINCT FROM 'car'
--= answered
SELECT COUNT(*) FROM trips WHERE route ILIKE 'cove%'
--= answered
SELECT COUNT(*) FROM trips WHERE LOWER(route) = 'cove line'
--= refused: 'Cove line' is not among the declared values of column route
SELECT COUNT(*) FROM trips WHERE route = 'Cove line'
--= answered
SELECT COUNT(*) FROM trips WHERE agent LIKE '%Tours%'
--= answered
SELECT agent, COUNT(*) FROM trips GROUP BY agent ORDER BY COUNT(*) DESC LIMIT 5
--= answered
SELECT UPPER(channel) AS channel, COUNT(*) FROM trips GROUP BY UPPER(channel)
--= answered
SELECT route || ' by ' || channel AS what, COUNT(*) FROM trips GROUP BY route, channel
--= answered
SELECT LEFT(route, 1) AS letter, COUNT(*) FROM trips GROUP BY 1
--= answered
SELECT LENGTH(route) AS letters, COUNT(*) FROM trips GROUP BY 1
--= refused: MAX is not supported: one person's row can decide it
SELECT MAX(fare) FROM trips
--= refused: MIN is not supported: one person's row can decide it
SELECT MIN(sailed), MAX(sailed) FROM trips
--= answered
SELECT SUM(DISTINCT luggage) FROM trips
--= answered
SELECT COUNT(DISTINCT route) FROM trips
--= answered
SELECT COUNT(DISTINCT passenger) FILTER (WHERE cancelled) FROM trips
--= answered
SELECT COUNT(DISTINCT CASE WHEN channel = 'web' THEN passenger END) * 1.0 / COUNT(DISTINCT passenger) AS share FROM trips
--= answered
SELECT SUM(luggage) / COUNT(*) FROM trips
--= answered
SELECT AVG(fare * 1.19) AS gross FROM trips
--= answered
SELECT SUM(ROUND(fare, 0)) FROM trips
--= answered
SELECT MOD(passenger, 2) AS half, COUNT(*) FROM trips GROUP BY 1
--= answered
SELECT MOD(luggage, 2) AS odd, COUNT(*) FROM trips GROUP BY MOD(luggage, 2)
--= answered
SELECT AVG(POWER(delay_minutes, 2)) FROM trips
--= answered
SELECT AVG(LOG(1 + points)) FROM passengers
--= answered
SELECT TRUNC(fare / 100) * 100 AS band, COUNT(*) FROM trips GROUP BY 1 ORDER BY 1
--= answered
SELECT ROUND(fare, -1) AS tens, COUNT(*) FROM trips GROUP BY 1
--= answered
SELECT fare::numeric(10,2) AS price, COUNT(*) FROM trips WHERE fare < 1 GROUP BY 1
--= answered
SELECT date_trunc('month', sailed) AS m, COUNT(*), SUM(COUNT(*)) OVER (ORDER BY date_trunc('month', sailed)) FROM trips GROUP BY 1 ORDER BY 1
--= answered
SELECT m, n, n - LAG(n) OVER (ORDER BY m) AS change FROM (SELECT date_trunc('month', sailed) AS m, COUNT(*) AS n FROM trips GROUP BY 1) q ORDER BY m
--= answered
SELECT route, SUM(fare) AS s, RANK() OVER (ORDER BY SUM(fare) DESC) FROM trips GROUP BY route
--= answered
SELECT ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) AS place, route, COUNT(*) FROM trips GROUP BY route
--= answered
SELECT route, CASE WHEN COUNT(*) > 1000 THEN 'busy' ELSE 'quiet' END AS kind FROM trips GROUP BY route
--= answered
SELECT COALESCE(SUM(fare), 0) FROM trips WHERE route = 'Dune Express'
--= answered
SELECT CAST(AVG(fare) AS numeric(10,2)) FROM trips
--= answered
SELECT 'ferry' AS source, COUNT(*) FROM trips
--= answered
SELECT CURRENT_DATE, COUNT(*) FROM trips
--= answered
SELECT route, COUNT(*) FROM trips WHERE children BETWEEN 1 AND 3 AND fare NOT BETWEEN 0 AND 10 GROUP BY route
--= answered
SELECT x.route, x.n FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) x WHERE x.n > 100 ORDER BY x.n DESC LIMIT 2
--= answered
SELECT AVG(n) FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) x
--= answered
SELECT 'web' AS channel, COUNT(*) FROM trips WHERE channel = 'web' UNION ALL SELECT 'desk', COUNT(*) FROM trips WHERE channel = 'desk'
--= refused: bool_or is not supported: one person's row could decide its
SELECT bool_or(cancelled) FROM trips
--= refused: string_agg is not supported: it would list single rows
SELECT string_agg(route, ',') FROM trips
--= refused: * is not answered: single rows are never returned
SELECT * FROM trips LIMIT 10
--= refused: column "passenger" would list single units
SELECT passenger, fare FROM trips WHERE fare > 300
--= answered
WITH cohort AS (SELECT passenger, MIN(sailed) AS first_sailed FROM trips GROUP BY passenger) SELECT date_trunc('month', first_sailed) AS cohort, COUNT(*) AS passengers FROM cohort GROUP BY 1 ORDER BY 1
--= answered
WITH firsts AS (SELECT passenger, MIN(sailed) AS first_sailed FROM trips GROUP BY passenger) SELECT date_trunc('quarter', f.first_sailed) AS cohort, date_trunc('quarter', t.sailed) AS active, COUNT(DISTINCT t.passenger) AS passengers FROM trips t JOIN firsts f ON f.passenger = t.passenger GROUP BY 1, 2 ORDER BY 1, 2
--= answered
SELECT COUNT(*) FILTER (WHERE y24 AND y25) * 100.0 / COUNT(*) FILTER (WHERE y24) AS retention FROM (SELECT passenger, BOOL_OR(EXTRACT(YEAR FROM sailed) = 2024) AS y24, BOOL_OR(EXTRACT(YEAR FROM sailed) = 2025) AS y25 FROM trips GROUP BY passenger) q
--= answered
SELECT COUNT(*) AS booked, COUNT(*) FILTER (WHERE paid > 0) AS paid, COUNT(*) FILTER (WHERE sailed_n > 0) AS sailed FROM (SELECT passenger, SUM(CASE WHEN fare > 0 THEN 1 ELSE 0 END) AS paid, SUM(CASE WHEN NOT cancelled THEN 1 ELSE 0 END) AS sailed_n FROM trips GROUP BY passenger) f
--= answered
SELECT EXTRACT(YEAR FROM sailed) AS year, SUM(fare) AS revenue, LAG(SUM(fare)) OVER (ORDER BY EXTRACT(YEAR FROM sailed)) AS last_year, ROUND(100.0 * (SUM(fare) / LAG(SUM(fare)) OVER (ORDER BY EXTRACT(YEAR FROM sailed)) - 1), 1) AS growth FROM trips GROUP BY 1 ORDER BY 1
--= answered
WITH y AS (SELECT EXTRACT(MONTH FROM sailed) AS m, SUM(fare) FILTER (WHERE EXTRACT(YEAR FROM sailed) = 2024) AS r24, SUM(fare) FILTER (WHERE EXTRACT(YEAR FROM sailed) = 2025) AS r25 FROM trips GROUP BY 1) SELECT m, r24, r25, (r25 - r24) / NULLIF(r24, 0) AS yoy FROM y ORDER BY m
--= answered
SELECT route, month, revenue FROM (SELECT route, date_trunc('month', sailed) AS month, SUM(fare) AS revenue, RANK() OVER (PARTITION BY date_trunc('month', sailed) ORDER BY SUM(fare) DESC) AS r FROM trips GROUP BY 1, 2) x WHERE r = 1 ORDER BY month
--= answered
SELECT m, n, AVG(n) OVER (ORDER BY m ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS ma3 FROM (SELECT date_trunc('month', sailed) AS m, COUNT(*) AS n FROM trips GROUP BY 1) t ORDER BY m
--= answered
SELECT CASE WHEN EXTRACT(YEAR FROM CURRENT_DATE) - birth_year < 18 THEN 'under 18' WHEN EXTRACT(YEAR FROM CURRENT_DATE) - birth_year BETWEEN 18 AND 64 THEN '18-64' ELSE '65+' END AS age_group, COUNT(*) AS n, ROUND(AVG(points)) AS points FROM passengers GROUP BY age_group ORDER BY n DESC
--= answered
SELECT FLOOR(fare / 20) * 20 AS lo, FLOOR(fare / 20) * 20 + 20 AS hi, COUNT(*) FROM trips WHERE NOT cancelled GROUP BY 1, 2 ORDER BY 1
--= answered
SELECT CONCAT(FLOOR(fare / 50) * 50, '-', FLOOR(fare / 50) * 50 + 50) AS bucket, COUNT(*) FROM trips GROUP BY 1 ORDER BY 1
--= answered
SELECT route, percentile_cont(0.5) WITHIN GROUP (ORDER BY delay_minutes) AS p50, percentile_cont(0.9) WITHIN GROUP (ORDER BY delay_minutes) AS p90 FROM trips WHERE delay_minutes IS NOT NULL GROUP BY route HAVING COUNT(*) > 50
--= answered
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) AS median_trips FROM (SELECT passenger, COUNT(*) AS n FROM trips GROUP BY passenger) q
--= answered
SELECT p.home, COUNT(DISTINCT p.passenger) AS people, COUNT(t.passenger) AS trips FROM passengers p LEFT JOIN trips t ON t.passenger = p.passenger GROUP BY p.home
--= answered
SELECT p.home, AVG(q.spent) FROM passengers p JOIN (SELECT passenger, SUM(fare) AS spent FROM trips GROUP BY passenger) q ON q.passenger = p.passenger GROUP BY p.home
--= answered
SELECT AVG(CASE WHEN p.member THEN q.spent END) AS members, AVG(CASE WHEN NOT p.member THEN q.spent END) AS others FROM passengers p LEFT JOIN (SELECT passenger, SUM(fare) AS spent FROM trips GROUP BY passenger) q USING (passenger)
--= answered
SELECT COUNT(*) FROM passengers p WHERE EXISTS (SELECT 1 FROM trips t WHERE t.passenger = p.passenger AND t.sailed BETWEEN p.joined AND p.joined + 30)
--= answered
SELECT COUNT(*) FROM passengers p WHERE EXISTS (SELECT 1 FROM trips t WHERE t.passenger = p.passenger AND t.sailed <= p.joined + INTERVAL '30 days' AND t.sailed >= p.joined)
--= answered
SELECT COUNT(*) FROM (SELECT passenger FROM trips GROUP BY passenger HAVING COUNT(DISTINCT route) >= 3) x
--= answered
SELECT COUNT(*) FROM (SELECT passenger FROM trips GROUP BY passenger HAVING MAX(sailed) < CURRENT_DATE - INTERVAL '1 year') churned
--= answered
SELECT AVG(last - first) AS lifetime FROM (SELECT passenger, MIN(sailed) AS first, MAX(sailed) AS last FROM trips GROUP BY passenger) q
--= answered
SELECT COUNT(*) FROM trips a JOIN trips b ON a.passenger = b.passenger AND b.sailed > a.sailed AND b.sailed <= a.sailed + 7
--= answered
SELECT COUNT(DISTINCT passenger) FROM trips WHERE sailed >= DATE '2025-01-01' AND passenger NOT IN (SELECT passenger FROM trips WHERE sailed < DATE '2025-01-01')
--= answered
SELECT COUNT(DISTINCT t.passenger) FROM trips t WHERE NOT EXISTS (SELECT 1 FROM trips u WHERE u.passenger = t.passenger AND u.cancelled)
--= answered
SELECT CASE WHEN t.n IS NULL THEN 'none' WHEN t.n = 1 THEN 'one' ELSE 'more' END AS kind, COUNT(*) FROM passengers p LEFT JOIN (SELECT passenger, COUNT(*) AS n FROM trips GROUP BY passenger) t ON t.passenger = p.passenger GROUP BY 1
--= answered
SELECT date_trunc('week', booked_at)::date AS week, COUNT(DISTINCT passenger) AS wau FROM trips WHERE booked_at >= '2025-01-01' AND booked_at < '2025-04-01' GROUP BY 1 ORDER BY 1
--= answered
SELECT TO_CHAR(sailed, 'Month') AS month, COUNT(*) FROM trips WHERE EXTRACT(YEAR FROM sailed) = 2025 GROUP BY TO_CHAR(sailed, 'Month'), EXTRACT(MONTH FROM sailed) ORDER BY EXTRACT(MONTH FROM sailed)
--= answered
SELECT CASE EXTRACT(dow FROM sailed) WHEN 0 THEN 'Sun' WHEN 6 THEN 'Sat' ELSE 'weekday' END AS d, AVG(fare) FROM trips GROUP BY 1
--= answered
SELECT route, AVG(EXTRACT(EPOCH FROM (sailed - booked_at)) / 86400) AS lead_days FROM trips GROUP BY route
--= answered
SELECT route, AVG(sailed - booked_at::date) AS lead_days FROM trips GROUP BY route ORDER BY lead_days DESC
--= answered
SELECT sex, home, COUNT(*), ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY home), 1) AS pct FROM passengers GROUP BY sex, home ORDER BY home, pct DESC
--= answered
SELECT route, SUM(fare) AS revenue, SUM(SUM(fare)) OVER (ORDER BY SUM(fare) DESC) / SUM(SUM(fare)) OVER () AS cumulative_share FROM trips GROUP BY route ORDER BY revenue DESC
--= answered
SELECT route, COUNT(*) FROM trips WHERE sailed >= date_trunc('month', CURRENT_DATE - INTERVAL '1 month') AND sailed < date_trunc('month', CURRENT_DATE) GROUP BY route
--= answered
SELECT COALESCE(route, 'Total') AS route, COUNT(*), SUM(fare) FROM trips GROUP BY ROLLUP (route)
--= refused: this subquery would pair different persons' rows: nothing
SELECT COUNT(*) FROM trips WHERE fare > (SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY fare) FROM trips)
--= answered
SELECT r.harbour, EXTRACT(YEAR FROM t.sailed) AS y, SUM(t.fare) / SUM(r.km) AS per_km FROM trips t JOIN routes r USING (route) GROUP BY 1, 2 ORDER BY 1, 2
--= answered
SELECT route, SUM(CASE WHEN delay_minutes > 30 THEN 1 ELSE 0 END)::float / COUNT(delay_minutes) AS late FROM trips GROUP BY route ORDER BY late DESC LIMIT 3
--= answered
SELECT COUNT(*) FROM trips WHERE route IN ('Cove Line', 'Birch Point') AND (deck = 'car' OR deck IS NULL) AND sailed >= '2025-01-01'::date AND sailed < '2025-01-01'::date + INTERVAL '6 months'
--= answered
SELECT ROUND(AVG(fare)::numeric, 2) AS mean, ROUND(STDDEV(fare)::numeric, 2) AS sd, COUNT(*) AS n, ROUND((AVG(fare) + 1.96 * STDDEV(fare) / SQRT(COUNT(*)))::numeric, 2) AS hi FROM trips
--= answered
SELECT home, COUNT(*) AS n FROM passengers WHERE birth_year <= 2007 AND (sex <> 'x' OR sex IS NULL) GROUP BY home ORDER BY n DESC LIMIT 2
--= answered
SELECT route, n, total FROM (SELECT route, COUNT(*) n, SUM(COUNT(*)) OVER () total FROM trips GROUP BY route) s WHERE n * 1.0 / total > 0.2
--= refused: generate_series is not supported beside rows of persons
SELECT generate_series, COUNT(t.passenger) FROM generate_series(DATE '2025-01-01', DATE '2025-01-31', INTERVAL '1 day') LEFT JOIN trips t ON t.sailed = generate_series GROUP BY 1
--= answered
SELECT DISTINCT ON (route) route, channel, COUNT(*) FROM trips GROUP BY route, channel ORDER BY route, COUNT(*) DESC
--= answered
SELECT channel, COUNT(*) AS n FROM trips WHERE date_part('year', sailed) = 2025 AND date_part('month', sailed) IN (6, 7, 8) GROUP BY channel
--= answered
SELECT COUNT(*) FROM trips WHERE sailed > '2025-01-01' AND sailed::text LIKE '2025-0%'
--= refused: column "route" stands outside any aggregate
SELECT route, SUM(fare) OVER (PARTITION BY route) FROM trips
--= answered
WITH t AS (SELECT passenger, sailed, LAG(sailed) OVER (PARTITION BY passenger ORDER BY sailed) AS prev FROM trips) SELECT AVG(sailed - prev) FROM t
--= answered
WITH ranked AS (SELECT passenger, route, ROW_NUMBER() OVER (PARTITION BY passenger ORDER BY sailed) AS rn FROM trips) SELECT route, COUNT(*) FROM ranked WHERE rn = 1 GROUP BY route
--= answered
SELECT m, n FROM (SELECT date_trunc('month', booked_at) AS m, COUNT(*) AS n FROM trips GROUP BY 1) q WHERE m BETWEEN TIMESTAMP '2025-01-01 00:00:00' AND TIMESTAMP '2025-12-31 00:00:00' ORDER BY 1
--= answered
SELECT m::date AS m, n FROM (SELECT date_trunc('month', booked_at) AS m, COUNT(*) AS n FROM trips GROUP BY 1) q ORDER BY 1
--= answered
SELECT DATE_TRUNC('year', month) AS month, SUM(n) AS total FROM (SELECT date_trunc('month', sailed) AS month, COUNT(*) AS n FROM trips GROUP BY 1) AS virtual_table GROUP BY DATE_TRUNC('year', month) LIMIT 10
--= answered
SELECT x.y, SUM(x.n) FROM (SELECT EXTRACT(YEAR FROM sailed) AS y, route, COUNT(*) AS n FROM trips GROUP BY 1, 2) x GROUP BY x.y ORDER BY x.y
--= answered
SELECT CAST(DATE_TRUNC('year', "source"."sailed") AS date) AS "sailed", AVG("source"."count") AS "avg" FROM (SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date)) AS "source" GROUP BY CAST(DATE_TRUNC('year', "source"."sailed") AS date) ORDER BY CAST(DATE_TRUNC('year', "source"."sailed") AS date) ASC
--= answered
SELECT "source"."passenger_count" AS "passenger_count", COUNT(*) AS "count" FROM (SELECT "public"."trips"."passenger" AS "passenger", COUNT(*) AS "passenger_count" FROM "public"."trips" GROUP BY "public"."trips"."passenger") AS "source" GROUP BY "source"."passenger_count" ORDER BY "source"."passenger_count" ASC
--= answered
SELECT date_part('month', sailed) AS m, COUNT(*) FILTER (WHERE date_part('year', sailed) = 2025) - COUNT(*) FILTER (WHERE date_part('year', sailed) = 2024) AS diff FROM trips GROUP BY 1 ORDER BY 1
--= answered
SELECT CASE WHEN GROUPING(route) = 1 THEN 'Total' ELSE route END AS route, COUNT(*) FROM trips GROUP BY ROLLUP (route) ORDER BY GROUPING(route), 1
--= answered
SELECT p.home, COUNT(*) FILTER (WHERE COALESCE(x.n, 0) = 0) AS never, COUNT(*) FILTER (WHERE x.n > 3) AS many FROM passengers p LEFT JOIN (SELECT passenger, COUNT(*) AS n FROM trips GROUP BY passenger) x ON x.passenger = p.passenger GROUP BY p.home
--= answered
WITH f AS (SELECT passenger, MIN(date_trunc('month', sailed)) AS cohort FROM trips GROUP BY passenger) SELECT cohort, COUNT(DISTINCT t.passenger) FILTER (WHERE date_trunc('month', t.sailed) = cohort + INTERVAL '1 month') * 1.0 / COUNT(DISTINCT t.passenger) AS m1 FROM trips t JOIN f USING (passenger) GROUP BY cohort ORDER BY cohort
--= answered
WITH f AS (SELECT passenger, MIN(sailed) AS first FROM trips GROUP BY passenger) SELECT (t.sailed - f.first) / 30 AS month_no, COUNT(DISTINCT t.passenger) FROM trips t JOIN f ON f.passenger = t.passenger GROUP BY 1 ORDER BY 1
--= answered
WITH f AS (SELECT passenger, MIN(sailed) AS first FROM trips GROUP BY passenger) SELECT EXTRACT(YEAR FROM AGE(t.sailed, f.first)) * 12 + EXTRACT(MONTH FROM AGE(t.sailed, f.first)) AS month_no, COUNT(DISTINCT t.passenger) FROM trips t JOIN f ON f.passenger = t.passenger GROUP BY 1 ORDER BY 1
--= answered
SELECT EXTRACT(YEAR FROM first) AS y, COUNT(*) FROM (SELECT passenger, MIN(sailed) AS first FROM trips GROUP BY passenger) q GROUP BY 1 ORDER BY 1
--= answered
SELECT COUNT(DISTINCT a.passenger) FROM trips a JOIN trips b ON b.passenger = a.passenger AND EXTRACT(YEAR FROM a.sailed) = 2024 AND EXTRACT(YEAR FROM b.sailed) = 2025
--= answered
SELECT route, COUNT(*) AS n, DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) AS r, PERCENT_RANK() OVER (ORDER BY COUNT(*)) AS pr, NTILE(2) OVER (ORDER BY COUNT(*)) AS half FROM trips GROUP BY route
--= answered
SELECT m, n, FIRST_VALUE(n) OVER (ORDER BY m) AS f, n * 100.0 / FIRST_VALUE(n) OVER (ORDER BY m) AS idx, LEAD(n) OVER (ORDER BY m) FROM (SELECT date_trunc('month', sailed) AS m, COUNT(*) AS n FROM trips GROUP BY 1) q
--= answered
SELECT route, EXTRACT(YEAR FROM sailed) AS y, SUM(fare), SUM(fare) - LAG(SUM(fare)) OVER w AS d FROM trips GROUP BY 1, 2 WINDOW w AS (PARTITION BY route ORDER BY EXTRACT(YEAR FROM sailed)) ORDER BY 1, 2
--= answered
SELECT SUM(CASE WHEN sailed >= CURRENT_DATE - 30 THEN 1 ELSE 0 END) AS last30, SUM(CASE WHEN sailed >= CURRENT_DATE - 60 AND sailed < CURRENT_DATE - 30 THEN 1 ELSE 0 END) AS prev30 FROM trips
--= answered
SELECT SUM(fare) FROM trips WHERE date_trunc('month', sailed) = date_trunc('month', CURRENT_DATE - INTERVAL '1 month')
--= answered
SELECT SUM(fare) FROM trips WHERE to_char(sailed, 'YYYY-MM') = '2025-05'
--= answered
SELECT SUM(fare) FROM trips WHERE sailed BETWEEN SYMMETRIC '2025-05-31' AND '2025-05-01'
--= answered
SELECT COUNT(*) FROM trips WHERE route = ANY ('{Cove Line,Birch Point}')
--= answered
SELECT route, CASE WHEN AVG(delay_minutes) > 20 THEN 'late' ELSE 'ok' END, GREATEST(AVG(fare), 50) FROM trips GROUP BY route
--= answered
SELECT EXTRACT(dow FROM sailed)::int AS d, to_char(sailed, 'Dy') AS name, COUNT(*) FROM trips GROUP BY 1, 2 ORDER BY 1
--= answered
SELECT COUNT(*) / 12.0 AS per_month, COUNT(*) / 12 AS whole FROM trips WHERE EXTRACT(YEAR FROM sailed) = 2025
--= answered
SELECT COUNT(*) / COUNT(DISTINCT passenger) AS trips_each FROM trips
--= answered
SELECT SUM(luggage) / COUNT(*) AS l, SUM(luggage)::float / COUNT(*) AS lf FROM trips
--= answered
SELECT AVG(luggage / 2) FROM trips
--= answered
SELECT COUNT(*) FROM trips t LEFT JOIN passengers p ON p.passenger = t.passenger AND p.member WHERE p.passenger IS NULL
--= answered
SELECT p.sex, COUNT(*) FROM passengers p LEFT JOIN trips t ON t.passenger = p.passenger AND t.sailed >= '2025-01-01' WHERE t.passenger IS NULL GROUP BY p.sex
--= answered
SELECT sex, COUNT(*) FROM passengers GROUP BY sex HAVING sex IS NOT NULL AND COUNT(*) > 20
--= answered
SELECT home, COUNT(*) FROM passengers WHERE NOT (sex = 'f') GROUP BY home
--= answered
SELECT home, COUNT(*) FROM passengers WHERE sex NOT IN ('f', 'm') GROUP BY home
--= answered
SELECT date_trunc('week', sailed) AS w, COUNT(*) FROM trips WHERE sailed >= '2024-12-25' AND sailed < '2025-01-10' GROUP BY 1
--= answered
SELECT EXTRACT(week FROM sailed) AS w, EXTRACT(isoyear FROM sailed) AS y, COUNT(*) FROM trips WHERE sailed >= '2024-12-25' AND sailed < '2025-01-10' GROUP BY 1, 2
--= answered
SELECT AVG(points) FILTER (WHERE member) - AVG(points) FILTER (WHERE NOT member) AS gap FROM passengers
--= answered
SELECT AVG(p.points) FROM passengers p WHERE p.passenger IN (SELECT t.passenger FROM trips t JOIN routes r ON r.route = t.route WHERE r.harbour = 'Outer Pier')
--= answered
SELECT COUNT(*) FROM passengers p WHERE 3 <= (SELECT COUNT(DISTINCT route) FROM trips t WHERE t.passenger = p.passenger AND NOT t.cancelled)
--= answered
SELECT CASE WHEN EXISTS (SELECT 1 FROM trips t WHERE t.passenger = p.passenger) THEN 'yes' ELSE 'no' END AS travelled, COUNT(*) FROM passengers p GROUP BY 1
--= answered
SELECT SUM(fare) AS revenue, COUNT(*) AS n FROM trips WHERE sailed >= '2025-01-01' AND sailed < '2025-02-01' HAVING COUNT(*) > 0
--= answered
SELECT coalesce(home, 'x') h, avg(extract(year from now()) - birth_year)::int age FROM passengers group by home order by age
--= answered
SELECT date_trunc('month', booked_at)::date AS m, percentile_cont(0.5) within group (order by extract(epoch from (sailed - booked_at))/3600) AS hours FROM trips GROUP BY 1 ORDER BY 1
--= answered
SELECT count(*) FROM trips WHERE sailed - INTERVAL '3 days' > booked_at AND age(sailed, reserved) < INTERVAL '1 month'
--= answered
SELECT channel, ROUND(SUM(fare)::numeric / 1000, 1) || 'k' AS rev FROM trips GROUP BY channel
--= answered
SELECT channel, 'n=' || COUNT(*) FROM trips GROUP BY channel
--= answered
SELECT ROUND(AVG(fare), 2), COUNT(*) FROM trips GROUP BY () 
--= answered
SELECT deck, COUNT(*) FROM trips GROUP BY deck ORDER BY COUNT(*) DESC NULLS LAST, deck NULLS FIRST OFFSET 1 LIMIT 2
--= answered
WITH a AS (SELECT DISTINCT passenger FROM trips WHERE sailed >= '2024-01-01' AND sailed < '2025-01-01'), b AS (SELECT DISTINCT passenger FROM trips WHERE sailed >= '2025-01-01' AND sailed < '2026-01-01') SELECT COUNT(*) AS retained FROM a JOIN b ON a.passenger = b.passenger
--= answered
WITH monthly AS (SELECT date_trunc('month', sailed) AS m, COUNT(*) AS n FROM trips GROUP BY 1) SELECT a.m, a.n, b.n AS year_before, a.n - b.n AS diff FROM monthly a LEFT JOIN monthly b ON b.m = a.m - INTERVAL '1 year' ORDER BY a.m
--= refused: window functions (OVER) are not supported over single rows:
SELECT ntile, COUNT(*), AVG(total) FROM (SELECT passenger, SUM(fare) AS total, NTILE(4) OVER (ORDER BY SUM(fare)) AS ntile FROM trips GROUP BY passenger) q GROUP BY ntile
--= answered
SELECT route, COUNT(*) AS n FROM trips GROUP BY route HAVING COUNT(*) > (SELECT COUNT(*) / 4 FROM trips)
--= answered
SELECT SUM(fare) FROM trips WHERE (sailed, route) IN ((DATE '2025-01-01', 'Cove Line'))
--= answered
SELECT COUNT(*) FROM trips t CROSS JOIN (SELECT DATE '2025-06-01' AS cut) c WHERE t.sailed >= c.cut
--= answered
SELECT route, COUNT(*), COUNT(*)::float / (SELECT COUNT(*) FROM trips) FROM trips GROUP BY route
--= answered
SELECT (SELECT COUNT(*) FROM trips WHERE cancelled) * 100.0 / (SELECT COUNT(*) FROM trips) AS pct
--= answered
SELECT (SELECT COUNT(DISTINCT passenger) FROM trips) AS travellers, (SELECT COUNT(*) FROM passengers) AS all_people
--= answered
SELECT COUNT(*) AS trips, (SELECT COUNT(*) FROM passengers) AS people FROM trips
--= answered
WITH y AS (SELECT EXTRACT(year FROM sailed) AS year, COUNT(*) AS n FROM trips GROUP BY 1) SELECT a.year, a.n, b.n AS before, a.n - b.n AS change FROM y a LEFT JOIN y b ON b.year = a.year - 1 ORDER BY a.year
--= answered
SELECT a.route, a.n, b.n FROM (SELECT route, COUNT(*) AS n FROM trips WHERE sailed >= '2025-01-01' GROUP BY route) a JOIN (SELECT route, COUNT(*) AS n FROM trips WHERE sailed < '2025-01-01' GROUP BY route) b ON a.route = b.route
--= answered
WITH this AS (SELECT route, SUM(fare) AS s FROM trips WHERE EXTRACT(YEAR FROM sailed) = 2025 GROUP BY route), last AS (SELECT route, SUM(fare) AS s FROM trips WHERE EXTRACT(YEAR FROM sailed) = 2024 GROUP BY route) SELECT this.route, this.s, last.s, this.s / last.s - 1 AS growth FROM this JOIN last USING (route)
--= answered
SELECT x.n AS cancelled, y.n AS trips, 100.0 * x.n / y.n AS pct FROM (SELECT COUNT(*) AS n FROM trips WHERE cancelled) x CROSS JOIN (SELECT COUNT(*) AS n FROM trips) y
--= answered
WITH total AS (SELECT COUNT(*) AS n FROM trips) SELECT t.channel, t.n, t.n * 100.0 / total.n AS pct FROM (SELECT channel, COUNT(*) AS n FROM trips GROUP BY channel) t, total ORDER BY pct DESC
--= answered
SELECT COALESCE(a.route, b.route) AS route, a.n AS cancelled, b.n AS sailed FROM (SELECT route, COUNT(*) AS n FROM trips WHERE cancelled GROUP BY route) a FULL OUTER JOIN (SELECT route, COUNT(*) AS n FROM trips WHERE NOT cancelled GROUP BY route) b ON a.route = b.route ORDER BY 1
--= answered
SELECT 'All' AS route, COUNT(*) FROM trips UNION ALL SELECT route, COUNT(*) FROM trips GROUP BY route
--= answered
SELECT 'passengers' AS what, COUNT(*) AS n FROM passengers UNION ALL SELECT 'trips', COUNT(*) FROM trips UNION ALL SELECT 'cancelled trips', COUNT(*) FROM trips WHERE cancelled ORDER BY what
--= answered
SELECT 'web' AS channel, COUNT(*) FROM trips WHERE channel = 'web' UNION SELECT 'desk', COUNT(*) FROM trips WHERE channel = 'desk'
--= answered
SELECT route, COUNT(*) FROM trips WHERE route IN (SELECT route FROM trips GROUP BY route ORDER BY COUNT(*) DESC LIMIT 2) GROUP BY route
--= answered
WITH top AS (SELECT route FROM trips GROUP BY route ORDER BY SUM(fare) DESC LIMIT 2) SELECT top.route, date_trunc('year', sailed) AS y, SUM(fare) FROM trips t JOIN top ON top.route = t.route GROUP BY 1, 2
--= answered
SELECT route, COUNT(*) FROM trips WHERE route NOT IN (SELECT route FROM trips WHERE cancelled GROUP BY route HAVING COUNT(*) > 100) GROUP BY route
--= answered
SELECT COUNT(*) FROM (SELECT passenger FROM trips WHERE sailed < '2025-01-01' INTERSECT SELECT passenger FROM trips WHERE sailed >= '2025-01-01') both_years
--= answered
SELECT COUNT(*) FROM (SELECT passenger FROM trips WHERE sailed < '2025-01-01' EXCEPT SELECT passenger FROM trips WHERE sailed >= '2025-01-01') lost
--= answered
SELECT COUNT(*) FROM (SELECT passenger FROM trips WHERE channel = 'web' UNION SELECT passenger FROM trips WHERE channel = 'phone') q
--= answered
SELECT p.home, COUNT(*) FROM passengers p JOIN (SELECT passenger FROM trips WHERE fare > 300 EXCEPT SELECT passenger FROM trips WHERE cancelled) v ON v.passenger = p.passenger GROUP BY p.home
--= answered
SELECT p.home, AVG(x.n) AS trips, AVG(x.spent) AS spent FROM passengers p LEFT JOIN LATERAL (SELECT COUNT(*) AS n, SUM(t.fare) AS spent FROM trips t WHERE t.passenger = p.passenger) x ON TRUE GROUP BY p.home
--= answered
SELECT AVG(h.half) FROM trips t CROSS JOIN LATERAL (SELECT t.fare / 2 AS half) h
--= answered
WITH params AS (SELECT DATE '2025-01-01' AS since, 50 AS least) SELECT COUNT(*) FROM trips t CROSS JOIN params p WHERE t.sailed >= p.since AND t.fare > p.least
--= answered
WITH params AS (SELECT DATE '2025-01-01' AS since) SELECT route, COUNT(*) FROM trips WHERE sailed >= (SELECT since FROM params) GROUP BY route
--= answered
SELECT COUNT(*) FROM trips t JOIN (VALUES (DATE '2025-06-01')) AS c(cut) ON t.sailed >= c.cut
--= answered
SELECT COUNT(*) FROM trips WHERE (route, channel) IN (('Cove Line', 'web'), ('Birch Point', 'desk'))
--= answered
SELECT COUNT(*) FROM trips WHERE (route, channel) NOT IN (('Cove Line', 'web'))
--= answered
SELECT COUNT(*) FROM trips WHERE agent ~ '^(Sun|Moon)'
--= answered
SELECT COUNT(*) FROM trips WHERE agent ~* 'travel$'
--= answered
SELECT COUNT(*) FROM trips WHERE agent SIMILAR TO '(Sun|Moon)%'
--= answered
SELECT COUNT(*) FROM trips WHERE agent !~ 'Tours'
--= answered
SELECT REGEXP_LIKE(agent, '^Sun') AS sun, COUNT(*) FROM trips GROUP BY 1
--= answered
SELECT to_char(month, 'YYYY-MM') AS label, n FROM (SELECT date_trunc('month', sailed) AS month, COUNT(*) AS n FROM trips GROUP BY 1) q ORDER BY 1
--= answered
SELECT to_char(date_trunc('month', sailed), 'Mon YYYY') AS label, COUNT(*) FROM trips GROUP BY date_trunc('month', sailed) ORDER BY date_trunc('month', sailed)
--= answered
SELECT m + INTERVAL '1 month' AS next, n FROM (SELECT date_trunc('month', sailed) AS m, COUNT(*) AS n FROM trips GROUP BY 1) q ORDER BY 1
--= answered
SELECT m, n FROM (SELECT date_trunc('month', sailed) AS m, COUNT(*) AS n FROM trips GROUP BY 1) q WHERE m >= CURRENT_DATE - INTERVAL '1 year' ORDER BY 1
--= answered
SELECT m, n FROM (SELECT date_trunc('month', booked_at) AS m, COUNT(*) AS n FROM trips GROUP BY 1) q WHERE m >= NOW() - INTERVAL '1 year' ORDER BY 1
--= answered
SELECT channel, TO_CHAR(SUM(fare), '999,999.99') AS rev FROM trips GROUP BY channel
--= answered
SELECT channel, TO_CHAR(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 'FM990.0%') AS share FROM trips GROUP BY channel
--= answered
SELECT route, '$' || TO_CHAR(AVG(fare), 'FM999,990.00') AS mean FROM trips GROUP BY route ORDER BY AVG(fare) DESC
--= answered
WITH w AS (SELECT date_trunc('week', sailed)::date AS week, COUNT(*) AS n FROM trips GROUP BY 1) SELECT week, week + 6 AS until, to_char(week, 'IYYY-"W"IW') AS label, n FROM w ORDER BY week
--= answered
WITH m AS (SELECT date_trunc('month', sailed) AS m, SUM(fare) AS s FROM trips GROUP BY 1) SELECT m, s, EXTRACT(year FROM age(CURRENT_DATE, m)) * 12 + EXTRACT(month FROM age(CURRENT_DATE, m)) AS months_ago FROM m ORDER BY m DESC
--= answered
SELECT y, q, n FROM (SELECT date_trunc('quarter', sailed) AS d, EXTRACT(year FROM sailed) AS y, EXTRACT(quarter FROM sailed) AS q, COUNT(*) AS n FROM trips GROUP BY 1, 2, 3) x WHERE d BETWEEN DATE '2025-01-01' - INTERVAL '6 months' AND DATE '2025-01-01' ORDER BY 1, 2
--= answered
(SELECT route, COUNT(*) AS n FROM trips GROUP BY route ORDER BY n DESC LIMIT 1) UNION ALL (SELECT route, COUNT(*) AS n FROM trips GROUP BY route ORDER BY n LIMIT 1)
--= answered
SELECT d::date AS day, COALESCE(q.n, 0) AS n FROM generate_series(DATE '2025-01-01', DATE '2025-01-31', INTERVAL '1 day') d LEFT JOIN (SELECT sailed, COUNT(*) AS n FROM trips GROUP BY sailed) q ON q.sailed = d::date ORDER BY 1
--= answered
WITH days AS (SELECT generate_series('2025-01-01'::date, '2025-12-31'::date, '1 month') AS m) SELECT days.m, q.n FROM days LEFT JOIN (SELECT date_trunc('month', sailed) AS m, COUNT(*) AS n FROM trips GROUP BY 1) q ON q.m = days.m
--= answered
WITH top AS (SELECT route FROM trips GROUP BY route ORDER BY COUNT(*) DESC LIMIT 2) SELECT CASE WHEN route IN (SELECT route FROM top) THEN route ELSE 'other' END AS route, COUNT(*) FROM trips GROUP BY 1
--= answered
WITH firsts AS (SELECT passenger, MIN(date_trunc('month', sailed)) AS cohort FROM trips GROUP BY passenger) SELECT f.cohort, date_trunc('month', t.sailed) AS m, COUNT(DISTINCT t.passenger) AS active FROM firsts f JOIN trips t ON t.passenger = f.passenger GROUP BY 1, 2 ORDER BY 1, 2
--= answered
SELECT s.label, q.n FROM (SELECT channel, COUNT(*) n FROM trips GROUP BY channel) q JOIN (VALUES ('web', 'online'), ('desk', 'office'), ('phone', 'office')) AS s(c, label) ON s.c = q.channel
--= answered
SELECT t.route, t.n, r.km, t.n * r.km AS passenger_km FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) t JOIN routes r USING (route) ORDER BY passenger_km DESC
--= answered
select route, count(*) n, count(*) * 1.0 / sum(count(*)) over () share from trips where year(sailed) = 2025 group by route
--= answered
select month(sailed), avg(fare) from trips group by month(sailed)
--= answered
select datediff('day', reserved, sailed) as lead, count(*) from trips group by 1
--= answered
select count_if(cancelled) from trips
--= answered
select countif(cancelled) / count(*) from trips
--= answered
select sum(if(cancelled, 1, 0)) from trips
--= answered
select route, sum(fare) from trips group by all
--= answered
SELECT route, date_trunc('month', sailed) AS m, COUNT(*) AS n, AVG(fare) FROM trips GROUP BY ALL ORDER BY ALL
--= answered
select iif(member, 'yes', 'no') m, count(*) from passengers group by 1
--= answered
select ifnull(deck, 'none') d, count(*) from trips group by d
--= answered
select nvl(deck, 'none') d, count(*) from trips group by 1
--= answered
select isnull(deck, 'none') d, count(*) from trips group by 1
--= answered
select date_format(sailed, '%Y-%m') m, count(*) from trips group by 1
--= answered
select strftime('%Y-%m', sailed) m, count(*) from trips group by 1
--= answered
select format_date('%Y-%m', sailed) m, count(*) from trips group by 1
--= answered
select date_trunc(sailed, month) m, count(*) from trips group by 1
--= answered
select extract(year from sailed)*100 + extract(month from sailed) ym, count(*) from trips group by 1
--= answered
select avg(fare) mean, avg(fare) - 1.96*stddev(fare)/sqrt(count(*)) lo, avg(fare) + 1.96*stddev(fare)/sqrt(count(*)) hi from trips
--= answered
select route, count(*) from trips where fare between 10 and 50 or (fare > 200 and deck = 'lounge') group by route order by 2 desc
--= answered
select p.home, t.channel, count(*), avg(t.fare) from trips as t inner join passengers as p on p.passenger=t.passenger where t.sailed>='2025-01-01' and p.birth_year<1970 group by p.home, t.channel
--= answered
select avg(gap) from (select passenger, sailed - lag(sailed) over (partition by passenger order by sailed) as gap from trips) q
--= answered
select avg(cnt) from (select passenger, count(distinct route) cnt from trips group by passenger) q
--= answered
select cnt, count(*) from (select passenger, count(distinct date_trunc('month', sailed)) cnt from trips group by passenger) q group by cnt order by cnt
--= answered
select count(*) from (select passenger, sum(fare) s from trips where extract(year from sailed)=2025 group by passenger having sum(fare) > 500) q
--= answered
select case when s < 100 then 'low' when s < 500 then 'mid' else 'high' end seg, count(*), avg(s) from (select passenger, sum(fare) s from trips group by passenger) q group by 1
--= answered
select sum(fare) / count(distinct date_trunc('month', sailed)) from trips
--= answered
select route, sum(case when sailed >= date '2025-01-01' then fare end) / sum(fare) from trips group by route
--= answered
select avg(case when sex='f' then points end) / avg(case when sex='m' then points end) from passengers
--= answered
select var_samp(fare), covar_pop(fare, luggage), regr_r2(fare, luggage), regr_intercept(fare, luggage) from trips
--= answered
select sum(luggage * fare) / sum(luggage) weighted from trips
--= answered
select exp(avg(ln(fare + 1))) from trips
--= answered
select count(*) from passengers where joined between '2020-01-01'::date and current_date
--= answered
select floor(datediff(current_date, joined)/365) years, count(*) from passengers group by 1
--= answered
select count(*) from passengers where date_part('year', age(make_date(birth_year,1,1))) > 30
--= answered
select (extract(year from current_date) - birth_year) / 5 * 5 as age5, sex, count(*) from passengers group by 1, 2 having count(*) >= 10 order by 1, 2
--= answered
select r.harbour, avg(t.fare / nullif(r.km, 0)) from trips t join routes r using (route) group by 1
--= answered
select count(*) from trips where route in ('Cove Line') and not exists (select * from passengers p where p.passenger = trips.passenger and p.member)
--= answered
select home, count(*) filter (where member) as m, count(*) filter (where not member) as n from passengers group by home union all select 'total', count(*) filter (where member), count(*) filter (where not member) from passengers
--= refused: syntax error at or near "pivot"
select * from (select route, channel, sum(fare) s from trips group by 1,2) t pivot (sum(s) for channel in ('web','desk'))
--= answered
select route, channel, count(*) from trips group by cube(route, channel)
--= answered
select route, channel, count(*) from trips group by grouping sets ((route), (channel), ())
--= refused: first is not supported: it would list single rows
select first(fare) from trips
--= answered
select mode(channel) from trips
--= refused: listagg is not supported: it would list single rows
select route, listagg(channel, ',') from trips group by route
--= refused: histogram is not supported: it has several numbers
select histogram(fare) from trips
--= refused: there is no function "skewness"
select skewness(fare), kurtosis(fare) from trips
--= answered
select count(*) from trips where contains(route, 'Line')
--= answered
select count(*) from trips where starts_with(route, 'C')
--= answered
select count(*) from trips where regexp_like(route, '^C')
--= answered
select count(*) from trips where instr(route, 'Line') > 0
--= answered
select count(*) from trips where position('Line' in route) > 0
--= answered
select right(route, 4) r, count(*) from trips group by 1
--= answered
select replace(route, ' ', '_') r, count(*) from trips group by 1
--= answered
select initcap(channel), count(*) from trips group by 1
--= refused: there is no function "dayname"
select dayname(sailed), count(*) from trips group by 1
--= refused: there is no function "weekday"
select weekday(sailed), count(*) from trips group by 1
--= answered
select hour(booked_at) h, count(*) from trips group by h order by h
--= answered
select count(*) from trips where fare > '100'
--= answered
select count(*) from trips where cancelled = 'true'
--= answered
select avg(fare) filter (where deck='car'), avg(fare) from trips where 1=1 and sailed is not null
--= answered
select trips.route, count(*) from trips join passengers on trips.passenger = passengers.passenger and passengers.sex='f' group by trips.route limit 3
--= answered
with a as (select passenger, max(case when channel='web' then 1 else 0 end) w from trips group by passenger) select w, count(*) from a group by w
--= answered
with a as (select passenger, sum(fare) f, count(*) n from trips group by passenger) select sum(f)/sum(n), avg(f/n) from a
--= answered
with r as (select passenger, row_number() over (partition by passenger order by sailed) rn, fare from trips) select rn, avg(fare) from r where rn <= 5 group by rn
--= refused: CONCAT is computed only over known values, and those of
select count(distinct concat(passenger, '-', route)) from trips
--= answered
select count(distinct (passenger, route)) from trips
--= answered
select count(*) from (select distinct passenger, route from trips) q
--= refused: window functions (OVER) are not supported here
select sum(fare) over () from trips
--= answered
select `route`, count(*) from trips group by `route`
--= answered
select avg(fare) from trips group by route having route like 'C%'
--= answered
select count(*) from trips where date(booked_at) = '2025-05-01'
--= answered
select date(booked_at), count(*) from trips where booked_at >= '2025-05-01' and booked_at < '2025-05-10' group by date(booked_at)
--= answered
select count(*) from trips where sailed >= current_date() - 30
--= answered
select count(*) from trips where sailed >= date_sub(curdate(), interval 30 day)
--= answered
select count(*) from trips where sailed >= today() - interval 30 day
--= answered
select count(*) from trips where booked_at >= today()
--= answered
select year(sailed) y, quarter(sailed) q, sum(fare) from trips group by y, q order by y, q
--= answered
select datediff(month, reserved, sailed) m, count(*) from trips group by 1
--= answered
select date_diff(sailed, reserved, day) m, count(*) from trips group by 1
--= answered
select ifnull(sum(fare), 0) from trips where route = 'Cove Line'
--= answered
select route, nvl(avg(delay_minutes), 0) from trips group by route
--= answered
SELECT left(agent, 1) AS initial, count(*) FROM trips WHERE agent IS NOT NULL GROUP BY 1
--= answered
SELECT count(*) FROM trips WHERE length(trim(agent)) > 20
--= answered
SELECT split_part(agent, ' ', 1) AS agency, count(*) FROM trips GROUP BY 1 ORDER BY 2 DESC LIMIT 10
--= answered
SELECT avg(fare) FROM trips WHERE lower(trim(agent)) = 'sun tours'
--= refused: a number is needed here, and this is of type interval
SELECT avg(booked_at - sailed::timestamp) FROM trips
--= refused: window functions (OVER) are not supported over single rows:
SELECT avg(booked_at - lag(booked_at) OVER (PARTITION BY passenger ORDER BY booked_at)) FROM trips
--= refused: logical_or is not supported: one person's row could decide
SELECT logical_or(cancelled) FROM trips
--= answered
SELECT count(*) FROM trips WHERE fare > (SELECT avg(km) FROM routes)
--= answered
SELECT channel, format('%s%%', round(100.0 * COUNT(*) FILTER (WHERE cancelled) / COUNT(*), 1)) AS share FROM trips GROUP BY channel
--= answered
SELECT SUM(fare)::money FROM trips
--= answered
SELECT COUNT(*) FROM trips WHERE (fare / 100) ^ 2 > 4
--= answered
SELECT route, percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY fare) AS q FROM trips GROUP BY 1 ORDER BY 1
--= answered
WITH ranked AS (SELECT t.*, ROW_NUMBER() OVER (PARTITION BY passenger ORDER BY booked_at) AS rn FROM trips t) SELECT route, COUNT(*) FROM ranked WHERE rn = 1 GROUP BY route
--= answered
SELECT channel, AVG(fare) FROM (SELECT DISTINCT ON (passenger) passenger, channel, fare FROM trips ORDER BY passenger, sailed DESC) last GROUP BY channel
--= answered
SELECT COUNT(*) FROM (SELECT fare, RANK() OVER (PARTITION BY passenger ORDER BY fare DESC) AS r FROM trips) q WHERE r = 1 AND fare > 100
--= answered
SELECT p.home, COUNT(*) FROM passengers p LEFT JOIN (SELECT passenger, cancelled, ROW_NUMBER() OVER (PARTITION BY passenger ORDER BY sailed) AS n FROM trips) f ON f.passenger = p.passenger AND f.n = 1 WHERE f.cancelled GROUP BY p.home
--= answered
SELECT r.harbour, COUNT(t.passenger), SUM(t.fare) FROM routes r LEFT JOIN trips t ON t.route = r.route GROUP BY r.harbour
--= answered
SELECT COUNT(*) FROM trips WHERE AGE(booked_at, TIMESTAMP '2025-01-01 00:00:00') > INTERVAL '2 weeks'
--= answered
SELECT channel, COUNT(DISTINCT passenger || '-' || sailed) FROM trips GROUP BY channel
--= answered
SELECT COUNT(DISTINCT (luggage, children)) FROM trips
--= refused: COUNT(DISTINCT x) takes one value
SELECT COUNT(DISTINCT (passenger, route)), COUNT(*) FROM trips
--= answered
SELECT m.kind, COUNT(*) FROM trips t JOIN (VALUES ('desk', 'person'), ('phone', 'person'), ('web', 'machine')) AS m(channel, kind) ON m.channel = t.channel GROUP BY m.kind
--= answered
WITH m AS (SELECT 'desk' AS channel, 'person' AS kind UNION ALL SELECT 'web', 'machine') SELECT m.kind, AVG(fare) FROM trips t JOIN m ON m.channel = t.channel GROUP BY m.kind
--= answered
SELECT AVG(m) FROM (SELECT passenger, percentile_cont(0.5) WITHIN GROUP (ORDER BY fare) AS m FROM trips GROUP BY passenger) q
--= answered
SELECT AVG(typical), STDDEV(typical) FROM (SELECT passenger, median(fare) AS typical FROM trips WHERE NOT cancelled GROUP BY passenger HAVING COUNT(*) >= 3) q
--= answered
WITH d AS (SELECT passenger, percentile_disc(0.9) WITHIN GROUP (ORDER BY delay_minutes DESC) AS worst FROM trips GROUP BY passenger) SELECT COUNT(*) FROM d WHERE worst > 60
--= answered
SELECT COUNT(*) FROM trips t WHERE fare > (SELECT quantile_cont(u.fare, 0.75) FROM trips u WHERE u.passenger = t.passenger)
--= answered
SELECT route, COUNT(*) FROM (SELECT passenger, percentile_disc(0.5) WITHIN GROUP (ORDER BY route) AS route FROM trips GROUP BY passenger) q GROUP BY route
--= answered
SELECT AVG(fare - mid) FROM (SELECT fare, MEDIAN(fare) OVER (PARTITION BY passenger) AS mid FROM trips) q
--= answered
SELECT generate_series(DATE '2025-01-01', DATE '2025-12-01', INTERVAL '1 month')::date AS month
--= answered
SELECT d::date AS day, EXTRACT(isodow FROM d) AS weekday FROM generate_series('2025-01-01'::timestamp, '2025-01-31', '1 day') AS t(d) WHERE EXTRACT(isodow FROM d) < 6 ORDER BY 1
--= answered
SELECT * FROM (SELECT route, km FROM routes UNION ALL SELECT harbour, 0 FROM routes ORDER BY 2 DESC LIMIT 5) q
--= refused: LIMIT inside a subquery of public rows is not supported:
SELECT COUNT(*) FROM trips WHERE route IN (SELECT route FROM routes UNION ALL SELECT harbour FROM routes ORDER BY 1 LIMIT 3)
--= answered
WITH x AS (SELECT passenger, sailed, LEAD(sailed) OVER (PARTITION BY passenger ORDER BY sailed) AS next FROM trips) SELECT COUNT(*) AS trips, ROUND(100.0 * SUM(CASE WHEN next <= sailed + INTERVAL '30 days' THEN 1 ELSE 0 END) / COUNT(*), 1) AS again FROM x
--= answered
SELECT children_on_board, COUNT(*) FROM (SELECT passenger, MAX(children) AS children_on_board FROM trips GROUP BY passenger HAVING MIN(luggage) < 2) q GROUP BY children_on_board
--= refused: a window over single rows must divide them by the person:
SELECT band, AVG(fare) FROM (SELECT fare, NTILE(10) OVER (ORDER BY fare) AS band FROM trips) t GROUP BY band ORDER BY band
--= refused: generate_series is not supported beside rows of persons
SELECT d AS day, COUNT(t.passenger) FROM generate_series(DATE '2025-03-01', DATE '2025-03-07', INTERVAL '1 day') d JOIN trips t ON t.reserved <= d AND t.sailed > d GROUP BY d
--= refused: TOP is not
SELECT TOP (10) route, COUNT(*) AS n FROM trips GROUP BY route ORDER BY n DESC
--= refused: syntax error
SELECT TOP 5 [route], COUNT(*) AS [n] FROM [dbo].[trips] GROUP BY [route] ORDER BY COUNT(*) DESC
--= refused: syntax error
SELECT trips.route, Count(trips.passenger) AS 'Count of passenger' FROM public.trips trips GROUP BY trips.route

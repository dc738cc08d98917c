-- Questions as analysts type them, in PostgreSQL's dialect, with habits from other databases.
-- policy: ferry
-- floor: 85

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
--= open: this subquery would pair different persons' rows: nothing
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
--= refused: arrays are not supported
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
--= refused: MAX is not supported: it is one person's value
SELECT MAX(fare) FROM trips
--= refused: MIN is not supported: it is one person's value
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
--= refused: UNION is not supported
SELECT 'web' AS channel, COUNT(*) FROM trips WHERE channel = 'web' UNION ALL SELECT 'desk', COUNT(*) FROM trips WHERE channel = 'desk'
--= refused: bool_or is not supported: one person's row could decide its
SELECT bool_or(cancelled) FROM trips
--= refused: string_agg is not supported: it would list single rows
SELECT string_agg(route, ',') FROM trips
--= refused: * is not answered: single rows are never returned
SELECT * FROM trips LIMIT 10
--= refused: column "passenger" stands outside any aggregate
SELECT passenger, fare FROM trips WHERE fare > 300

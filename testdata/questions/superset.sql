-- Questions in the forms that Superset sends to PostgreSQL: charts, time grains, filters, virtual data sets, SQL Lab.
-- policy: ferry
-- floor: 95

--= answered
SELECT COUNT(*) AS count FROM public.trips LIMIT 50000
--= answered
SELECT route AS route, COUNT(*) AS count FROM public.trips GROUP BY route ORDER BY count DESC LIMIT 10000
--= answered
SELECT route AS route, sum(fare) AS "SUM(fare)" FROM public.trips GROUP BY route ORDER BY "SUM(fare)" DESC LIMIT 100
--= answered
SELECT channel AS channel, AVG(fare) AS "AVG(fare)" FROM public.trips GROUP BY channel ORDER BY "AVG(fare)" DESC LIMIT 50000
--= answered
SELECT COUNT(DISTINCT passenger) AS "COUNT_DISTINCT(passenger)" FROM public.trips LIMIT 50000
--= answered
SELECT DATE_TRUNC('day', sailed) AS sailed, COUNT(*) AS count FROM public.trips WHERE sailed >= TO_DATE('2025-01-01', 'YYYY-MM-DD') AND sailed < TO_DATE('2025-02-01', 'YYYY-MM-DD') GROUP BY DATE_TRUNC('day', sailed) LIMIT 10000
--= answered
SELECT DATE_TRUNC('month', sailed) AS sailed, COUNT(*) AS count FROM public.trips GROUP BY DATE_TRUNC('month', sailed) ORDER BY count DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('week', sailed) AS sailed, sum(fare) AS "SUM(fare)" FROM public.trips WHERE sailed >= TO_DATE('2025-01-06', 'YYYY-MM-DD') AND sailed < TO_DATE('2025-12-29', 'YYYY-MM-DD') GROUP BY DATE_TRUNC('week', sailed) ORDER BY "SUM(fare)" DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('quarter', sailed) AS __timestamp, channel AS channel, COUNT(*) AS count FROM public.trips GROUP BY DATE_TRUNC('quarter', sailed), channel ORDER BY count DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('year', sailed) AS sailed, AVG(delay_minutes) AS "AVG(delay_minutes)" FROM public.trips GROUP BY DATE_TRUNC('year', sailed) ORDER BY "AVG(delay_minutes)" DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('month', booked_at) AS booked_at, COUNT(*) AS count FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2026-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('month', booked_at) ORDER BY count DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('day', booked_at) AS booked_at, route AS route, sum(fare) AS "SUM(fare)" FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-04-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('day', booked_at), route ORDER BY "SUM(fare)" DESC LIMIT 10000
--= answered
SELECT COUNT(*) AS count FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-06-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-07-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') LIMIT 50000
--= answered
SELECT route AS route, channel AS channel, COUNT(*) AS count FROM public.trips WHERE channel IN ('web', 'desk') GROUP BY route, channel ORDER BY count DESC LIMIT 1000
--= answered
SELECT route AS route, COUNT(*) AS count FROM public.trips WHERE deck IS NOT NULL GROUP BY route ORDER BY count DESC LIMIT 1000
--= answered
SELECT deck AS deck, COUNT(*) AS count FROM public.trips WHERE (deck NOT IN ('car') OR deck IS NULL) GROUP BY deck ORDER BY count DESC LIMIT 1000
--= answered
SELECT route AS route, COUNT(*) AS count FROM public.trips WHERE route ILIKE '%point%' GROUP BY route ORDER BY count DESC LIMIT 1000
--= answered
SELECT route AS route, COUNT(*) AS count FROM public.trips WHERE route LIKE 'Cove%' GROUP BY route ORDER BY count DESC LIMIT 1000
--= answered
SELECT COUNT(*) AS count FROM public.trips WHERE fare >= 20.0 AND fare <= 80.0 AND cancelled IS false LIMIT 50000
--= answered
SELECT COUNT(*) AS count FROM public.trips WHERE cancelled = true LIMIT 50000
--= answered
SELECT COUNT(*) AS count FROM public.trips WHERE ((sailed >= '2025-01-01') AND (sailed < '2025-04-01')) LIMIT 50000
--= answered
SELECT route AS route, sum(fare) AS "SUM(fare)" FROM public.trips GROUP BY route HAVING ((sum(fare) > 1000)) ORDER BY "SUM(fare)" DESC LIMIT 1000
--= answered
SELECT route AS route, COUNT(*) AS count FROM public.trips GROUP BY route HAVING COUNT(*) > 500 ORDER BY count ASC LIMIT 25
--= answered
SELECT route AS route, sum(fare) AS "SUM(fare)", AVG(fare) AS "AVG(fare)", COUNT(*) AS count, COUNT(DISTINCT passenger) AS riders FROM public.trips GROUP BY route ORDER BY "SUM(fare)" DESC LIMIT 1000
--= answered
SELECT sum(fare) / COUNT(*) AS "revenue per trip" FROM public.trips LIMIT 50000
--= answered
SELECT channel AS channel, SUM(CASE WHEN cancelled THEN 1 ELSE 0 END) * 100.0 / COUNT(*) AS "cancelled %" FROM public.trips GROUP BY channel ORDER BY "cancelled %" DESC LIMIT 1000
--= answered
SELECT channel AS channel, SUM(CASE WHEN cancelled THEN 1 ELSE 0 END)::float / NULLIF(COUNT(*), 0) AS share FROM public.trips GROUP BY channel ORDER BY share DESC LIMIT 1000
--= answered
SELECT route AS route, percentile_cont(0.5) WITHIN GROUP (ORDER BY fare) AS median FROM public.trips GROUP BY route ORDER BY median DESC LIMIT 1000
--= answered
SELECT stddev_samp(fare) AS deviation, variance(fare) AS variance FROM public.trips LIMIT 50000
--= answered
SELECT route AS route, channel AS channel, sum(fare) AS "SUM(fare)" FROM (SELECT * FROM trips WHERE NOT cancelled) AS virtual_table GROUP BY route, channel ORDER BY "SUM(fare)" DESC LIMIT 10000
--= answered
SELECT home AS home, sum(fare) AS "SUM(fare)" FROM (SELECT t.fare, t.route, p.home, p.member FROM trips t JOIN passengers p ON t.passenger = p.passenger) AS virtual_table WHERE member = true GROUP BY home ORDER BY "SUM(fare)" DESC LIMIT 10000
--= answered
SELECT harbour AS harbour, COUNT(*) AS count FROM (SELECT trips.fare, routes.harbour FROM public.trips JOIN public.routes ON trips.route = routes.route) AS virtual_table GROUP BY harbour ORDER BY count DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('month', sailed) AS sailed, sum(n) AS "SUM(n)" FROM (SELECT sailed, route, COUNT(*) AS n FROM trips GROUP BY sailed, route) AS virtual_table GROUP BY DATE_TRUNC('month', sailed) ORDER BY "SUM(n)" DESC LIMIT 10000
--= answered
SELECT route AS route, sum(revenue) AS "SUM(revenue)" FROM (SELECT route, channel, SUM(fare) AS revenue FROM trips GROUP BY route, channel) AS virtual_table GROUP BY route ORDER BY "SUM(revenue)" DESC LIMIT 10000
--= answered
SELECT band AS band, COUNT(*) AS count FROM (SELECT CASE WHEN fare < 25 THEN 'low' WHEN fare < 100 THEN 'middle' ELSE 'high' END AS band FROM trips) AS virtual_table GROUP BY band ORDER BY count DESC LIMIT 10000
--= answered
SELECT COUNT(*) AS rowcount FROM (SELECT route AS route, COUNT(*) AS count FROM public.trips GROUP BY route LIMIT 50000) AS rowcount_qry
--= answered
SELECT route AS route FROM public.trips GROUP BY route LIMIT 10000
--= answered
SELECT DISTINCT channel AS column_values FROM public.trips LIMIT 10000
--= answered
SELECT DISTINCT home AS home FROM public.passengers ORDER BY home ASC LIMIT 1000
--= answered
SELECT deck AS deck FROM public.trips GROUP BY deck ORDER BY deck ASC LIMIT 1000
--= answered
SELECT DISTINCT harbour FROM public.routes LIMIT 1000
--= answered
SELECT DATE_TRUNC('month', sailed) AS sailed, sum(fare) AS "SUM(fare)" FROM public.trips WHERE sailed >= TO_DATE('2024-01-01', 'YYYY-MM-DD') AND sailed < TO_DATE('2025-01-01', 'YYYY-MM-DD') AND route IN ('Cove Line') GROUP BY DATE_TRUNC('month', sailed) LIMIT 10000
--= answered
SELECT DATE_TRUNC('hour', booked_at) AS booked_at, COUNT(*) AS count FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-03-08 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('hour', booked_at) ORDER BY count DESC LIMIT 10000
--= answered
SELECT EXTRACT(dow FROM sailed) AS weekday, COUNT(*) AS count FROM public.trips GROUP BY EXTRACT(dow FROM sailed) ORDER BY count DESC LIMIT 10000
--= answered
SELECT TO_CHAR(sailed, 'YYYY-MM') AS month, COUNT(*) AS count FROM public.trips GROUP BY TO_CHAR(sailed, 'YYYY-MM') ORDER BY count DESC LIMIT 10000
--= answered
SELECT to_char(sailed, 'Day') AS weekday, sum(fare) AS "SUM(fare)" FROM public.trips GROUP BY to_char(sailed, 'Day') ORDER BY "SUM(fare)" DESC LIMIT 10000
--= answered
SELECT COALESCE(deck, 'unknown') AS deck, COUNT(*) AS count FROM public.trips GROUP BY COALESCE(deck, 'unknown') ORDER BY count DESC LIMIT 10000
--= answered
SELECT lower(route) AS line, COUNT(*) AS count FROM public.trips GROUP BY lower(route) ORDER BY count DESC LIMIT 10000
--= answered
SELECT route || ' ' || channel AS line, COUNT(*) AS count FROM public.trips GROUP BY route || ' ' || channel ORDER BY count DESC LIMIT 10000
--= answered
SELECT floor(fare / 25) * 25 AS bucket, COUNT(*) AS count FROM public.trips GROUP BY floor(fare / 25) * 25 ORDER BY bucket ASC LIMIT 10000
--= answered
SELECT width_bucket(fare, 0, 400, 8) AS bucket, COUNT(*) AS count FROM public.trips GROUP BY width_bucket(fare, 0, 400, 8) ORDER BY bucket ASC LIMIT 10000
--= answered
SELECT COUNT(*) AS count FROM public.trips WHERE sailed >= CURRENT_DATE - INTERVAL '30 days' LIMIT 50000
--= answered
SELECT COUNT(*) AS count FROM public.trips WHERE sailed >= DATE_TRUNC('month', CURRENT_DATE) LIMIT 50000
--= answered
SELECT COUNT(*) AS count FROM public.trips WHERE booked_at >= NOW() - INTERVAL '7 days' LIMIT 50000
--= answered
SELECT SUM(COUNT(*)) OVER (ORDER BY DATE_TRUNC('month', sailed)) AS running, DATE_TRUNC('month', sailed) AS sailed FROM public.trips GROUP BY DATE_TRUNC('month', sailed) LIMIT 10000
--= answered
SELECT route AS route, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share FROM public.trips GROUP BY route ORDER BY share DESC LIMIT 10000
--= answered
SELECT route AS route, RANK() OVER (ORDER BY SUM(fare) DESC) AS place, SUM(fare) AS revenue FROM public.trips GROUP BY route LIMIT 10000
--= answered
WITH monthly AS (SELECT DATE_TRUNC('month', sailed) AS month, SUM(fare) AS revenue FROM trips GROUP BY 1) SELECT month, revenue, revenue - LAG(revenue) OVER (ORDER BY month) AS change FROM monthly ORDER BY month LIMIT 1001
--= answered
WITH by_route AS (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) SELECT AVG(n) AS mean FROM by_route LIMIT 1001
--= answered
SELECT route, COUNT(*) FROM trips GROUP BY 1 ORDER BY 2 DESC LIMIT 1001
--= answered
SELECT route, count(*) as n FROM public.trips t WHERE t.sailed between '2025-01-01' and '2025-06-30' GROUP BY t.route ORDER BY n DESC LIMIT 1001
--= answered
SELECT p.home, r.harbour, COUNT(*) FROM trips t, passengers p, routes r WHERE t.passenger = p.passenger AND r.route = t.route GROUP BY p.home, r.harbour LIMIT 1001
--= answered
SELECT route, COUNT(*) FILTER (WHERE cancelled) AS cancelled, COUNT(*) AS all_trips FROM trips GROUP BY route LIMIT 1001
--= answered
SELECT agent AS agent, COUNT(*) AS count FROM public.trips GROUP BY agent ORDER BY count DESC LIMIT 10
--= answered
SELECT route AS route, deck AS deck, COUNT(*) AS count FROM public.trips GROUP BY ROLLUP (route, deck) LIMIT 10000
--= answered
SELECT CAST(sailed AS DATE) AS day, COUNT(*) AS count FROM public.trips WHERE CAST(sailed AS DATE) >= DATE '2025-05-01' AND CAST(sailed AS DATE) <= DATE '2025-05-31' GROUP BY CAST(sailed AS DATE) LIMIT 10000
--= refused: each group would hold one unit only, and none would ever be
SELECT passenger, COUNT(*) AS trips FROM public.trips GROUP BY passenger HAVING COUNT(*) > 10 ORDER BY trips DESC LIMIT 100
--= refused: LIMIT inside a subquery is not supported: whether a row
SELECT route AS route, DATE_TRUNC('month', sailed) AS sailed, sum(fare) AS "SUM(fare)" FROM public.trips JOIN (SELECT route AS route__, sum(fare) AS mme_inner__ FROM public.trips GROUP BY route ORDER BY mme_inner__ DESC LIMIT 2) AS series_limit ON route = route__ GROUP BY route, DATE_TRUNC('month', sailed) ORDER BY "SUM(fare)" DESC LIMIT 10000
--= answered
SELECT 1

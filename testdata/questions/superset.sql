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
--= answered
SELECT route AS route, DATE_TRUNC('month', sailed) AS sailed, sum(fare) AS "SUM(fare)" FROM public.trips JOIN (SELECT route AS route__, sum(fare) AS mme_inner__ FROM public.trips GROUP BY route ORDER BY mme_inner__ DESC LIMIT 2) AS series_limit ON route = route__ GROUP BY route, DATE_TRUNC('month', sailed) ORDER BY "SUM(fare)" DESC LIMIT 10000
--= answered
SELECT 1
--= answered
SELECT DATE_TRUNC('second', booked_at) AS booked_at, COUNT(*) AS count FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-03-01 10:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-03-01 11:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('second', booked_at) ORDER BY count DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('minute', booked_at) + INTERVAL '5 seconds' * FLOOR(EXTRACT(SECOND FROM booked_at) / 5) AS booked_at, COUNT(*) AS count FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-03-01 10:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-03-01 11:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('minute', booked_at) + INTERVAL '5 seconds' * FLOOR(EXTRACT(SECOND FROM booked_at) / 5) ORDER BY count DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('minute', booked_at) AS booked_at, COUNT(*) AS count FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-03-02 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('minute', booked_at) ORDER BY count DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('hour', booked_at) + INTERVAL '5 minutes' * FLOOR(EXTRACT(MINUTE FROM booked_at) / 5) AS booked_at, COUNT(*) AS count FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-03-02 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('hour', booked_at) + INTERVAL '5 minutes' * FLOOR(EXTRACT(MINUTE FROM booked_at) / 5) ORDER BY count DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('hour', booked_at) + INTERVAL '10 minutes' * FLOOR(EXTRACT(MINUTE FROM booked_at) / 10) AS booked_at, route AS route, sum(fare) AS "SUM(fare)" FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-03-02 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('hour', booked_at) + INTERVAL '10 minutes' * FLOOR(EXTRACT(MINUTE FROM booked_at) / 10), route ORDER BY "SUM(fare)" DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('hour', booked_at) + INTERVAL '15 minutes' * FLOOR(EXTRACT(MINUTE FROM booked_at) / 15) AS __timestamp, AVG(fare) AS "AVG(fare)" FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-03-08 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('hour', booked_at) + INTERVAL '15 minutes' * FLOOR(EXTRACT(MINUTE FROM booked_at) / 15) ORDER BY "AVG(fare)" DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('hour', booked_at) + INTERVAL '30 minutes' * FLOOR(EXTRACT(MINUTE FROM booked_at) / 30) AS booked_at, COUNT(*) AS count FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-04-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('hour', booked_at) + INTERVAL '30 minutes' * FLOOR(EXTRACT(MINUTE FROM booked_at) / 30) ORDER BY count DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('week', sailed + INTERVAL '1 day') + INTERVAL '5 days' AS sailed, COUNT(*) AS count FROM public.trips GROUP BY DATE_TRUNC('week', sailed + INTERVAL '1 day') + INTERVAL '5 days' ORDER BY count DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('week', booked_at - INTERVAL '6 days') + INTERVAL '6 days' AS booked_at, sum(fare) AS "SUM(fare)" FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('week', booked_at - INTERVAL '6 days') + INTERVAL '6 days' LIMIT 10000
--= answered
SELECT DATE_TRUNC('quarter', booked_at) AS booked_at, channel AS channel, COUNT(DISTINCT passenger) AS "COUNT_DISTINCT(passenger)" FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2024-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2026-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('quarter', booked_at), channel ORDER BY "COUNT_DISTINCT(passenger)" DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('year', sailed) AS sailed, route AS route, COUNT(*) AS count FROM public.trips WHERE sailed >= TO_DATE('2023-01-01', 'YYYY-MM-DD') AND sailed < TO_DATE('2026-01-01', 'YYYY-MM-DD') AND (route IN ('Alder Sound', 'Dune Express')) GROUP BY DATE_TRUNC('year', sailed), route ORDER BY count DESC LIMIT 1000
--= answered
SELECT COUNT(*) AS count
FROM public.trips
WHERE sailed >= TO_DATE('2025-01-01', 'YYYY-MM-DD') AND sailed < TO_DATE('2025-02-01', 'YYYY-MM-DD')
LIMIT 50000
-- 6dcd92a04feb50f14bbcf07c661680ba
--= answered
SELECT sailed AS sailed, COUNT(*) AS count FROM public.trips WHERE sailed >= TO_DATE('2025-01-01', 'YYYY-MM-DD') AND sailed < TO_DATE('2025-03-01', 'YYYY-MM-DD') GROUP BY sailed ORDER BY count DESC LIMIT 1000
--= answered
SELECT route AS route, channel AS channel, sum(fare) AS "SUM(fare)", count(*) AS "COUNT(*)" FROM public.trips WHERE sailed >= TO_DATE('2025-01-01', 'YYYY-MM-DD') AND ((cancelled = false AND fare > 0)) GROUP BY route, channel HAVING ((COUNT(*) > 10)) ORDER BY "SUM(fare)" DESC LIMIT 1000 OFFSET 0
--= answered
SELECT COUNT(*) AS rowcount FROM (SELECT route AS route, channel AS channel, COUNT(*) AS count FROM public.trips GROUP BY route, channel ORDER BY count DESC LIMIT 50000) AS rowcount_qry LIMIT 50000
--= answered
SELECT route AS route, deck AS deck, AVG(delay_minutes) AS "AVG(delay_minutes)" FROM public.trips WHERE NOT (deck IN ('open')) AND delay_minutes IS NOT NULL GROUP BY route, deck ORDER BY "AVG(delay_minutes)" DESC LIMIT 10000
--= answered
SELECT route AS route FROM public.trips WHERE route ILIKE '%ove%' GROUP BY route ORDER BY route ASC LIMIT 1000
--= answered
SELECT DATE_TRUNC('month', sailed) AS sailed FROM public.trips GROUP BY DATE_TRUNC('month', sailed) ORDER BY DATE_TRUNC('month', sailed) ASC LIMIT 1000
--= answered
SELECT sum(CASE WHEN channel = 'web' THEN fare ELSE 0 END) / sum(fare) AS "web share" FROM public.trips LIMIT 50000
--= answered
SELECT home AS home, sex AS sex, AVG(points) AS "AVG(points)", COUNT(*) AS count FROM public.passengers WHERE birth_year >= 1960 AND birth_year <= 2000 GROUP BY home, sex ORDER BY count DESC LIMIT 100
--= answered
SELECT CASE WHEN birth_year < 1965 THEN 'boomer' WHEN birth_year < 1981 THEN 'X' WHEN birth_year < 1997 THEN 'millennial' ELSE 'Z' END AS generation, COUNT(*) AS count FROM public.passengers GROUP BY CASE WHEN birth_year < 1965 THEN 'boomer' WHEN birth_year < 1981 THEN 'X' WHEN birth_year < 1997 THEN 'millennial' ELSE 'Z' END ORDER BY count DESC LIMIT 10000
--= answered
SELECT EXTRACT(HOUR FROM booked_at) AS hour, EXTRACT(ISODOW FROM booked_at) AS weekday, COUNT(*) AS count FROM public.trips GROUP BY EXTRACT(HOUR FROM booked_at), EXTRACT(ISODOW FROM booked_at) ORDER BY count DESC LIMIT 10000
--= answered
SELECT route AS route, PERCENTILE_CONT(0.95) WITHIN GROUP (ORDER BY delay_minutes) AS p95 FROM public.trips WHERE NOT cancelled GROUP BY route ORDER BY p95 DESC LIMIT 100
--= answered
SELECT DATE_TRUNC('month', month) AS month, sum(n) AS "SUM(n)" FROM (SELECT date_trunc('month', sailed) AS month, channel, COUNT(*) AS n FROM trips GROUP BY 1, 2) AS virtual_table WHERE channel IN ('web') GROUP BY DATE_TRUNC('month', month) ORDER BY "SUM(n)" DESC LIMIT 10000
--= answered
SELECT harbour AS harbour, home AS home, COUNT(DISTINCT passenger) AS riders FROM (SELECT t.passenger, p.home, r.harbour, t.sailed FROM trips t LEFT JOIN passengers p ON p.passenger = t.passenger LEFT JOIN routes r ON r.route = t.route) AS virtual_table WHERE sailed >= TO_DATE('2025-01-01', 'YYYY-MM-DD') GROUP BY harbour, home ORDER BY riders DESC LIMIT 10000
--= answered
SELECT trips_per_person AS trips_per_person, COUNT(*) AS count FROM (SELECT passenger, COUNT(*) AS trips_per_person FROM trips GROUP BY passenger) AS virtual_table GROUP BY trips_per_person ORDER BY count DESC LIMIT 100
--= answered
SELECT DATE_TRUNC('day', CAST(booked_at AS TIMESTAMP)) AS booked_at, COUNT(*) AS count FROM public.trips WHERE CAST(booked_at AS TIMESTAMP) >= TO_TIMESTAMP('2025-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND CAST(booked_at AS TIMESTAMP) < TO_TIMESTAMP('2025-04-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('day', CAST(booked_at AS TIMESTAMP)) ORDER BY count DESC LIMIT 10000
--= answered
SELECT channel AS channel, sum(fare) AS "SUM(fare)", sum(sum(fare)) OVER () AS total FROM public.trips GROUP BY channel LIMIT 1000
--= answered
SELECT route, month, revenue, AVG(revenue) OVER (PARTITION BY route ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS rolling FROM (SELECT route, DATE_TRUNC('month', sailed) AS month, SUM(fare) AS revenue FROM trips GROUP BY 1, 2) s ORDER BY route, month LIMIT 1001
--= answered
WITH base AS (SELECT route, channel, SUM(fare) AS revenue FROM trips GROUP BY route, channel), ranked AS (SELECT route, channel, revenue, ROW_NUMBER() OVER (PARTITION BY route ORDER BY revenue DESC) AS rn FROM base) SELECT route, channel, revenue FROM ranked WHERE rn = 1 LIMIT 1001
--= answered
SELECT * FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) AS q LIMIT 1001
--= answered
SELECT route AS route, COUNT(*) AS count FROM public.trips WHERE sailed >= '2025-01-01 00:00:00.000000' AND sailed < '2025-07-01 00:00:00.000000' GROUP BY route ORDER BY count DESC LIMIT 1000
--= answered
SELECT COUNT(*) AS count FROM public.trips WHERE (booked_at >= NOW() - INTERVAL '1 month' AND booked_at < NOW()) LIMIT 50000
--= answered
SELECT DATE_TRUNC('month', sailed) AS sailed, COUNT(*) AS count FROM public.trips WHERE sailed >= DATE_TRUNC('year', CURRENT_DATE) - INTERVAL '1 year' AND sailed < DATE_TRUNC('year', CURRENT_DATE) GROUP BY DATE_TRUNC('month', sailed) ORDER BY DATE_TRUNC('month', sailed) ASC LIMIT 10000
--= answered
SELECT luggage AS luggage, COUNT(*) AS count FROM public.trips WHERE luggage IN (1, 2, 3) GROUP BY luggage ORDER BY count DESC LIMIT 100
--= answered
SELECT coalesce(deck, '<NULL>') AS deck, cancelled AS cancelled, COUNT(*) AS count FROM public.trips GROUP BY coalesce(deck, '<NULL>'), cancelled ORDER BY count DESC LIMIT 10000
--= answered
SELECT agent AS agent, sum(fare) AS "SUM(fare)" FROM public.trips WHERE agent IS NOT NULL GROUP BY agent ORDER BY "SUM(fare)" DESC LIMIT 100
--= answered
SELECT DATE_TRUNC('month', sailed) AS sailed, route AS route, sum(fare) AS "SUM(fare)" FROM public.trips WHERE route = 'Cove Line' OR route = 'Birch Point' GROUP BY DATE_TRUNC('month', sailed), route ORDER BY "SUM(fare)" DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('month', sailed) AS sailed, route AS route, sum(fare) AS "SUM(fare)" FROM public.trips JOIN (SELECT route AS route__, sum(fare) AS mme_inner__ FROM public.trips WHERE sailed >= TO_DATE('2025-01-01', 'YYYY-MM-DD') GROUP BY route ORDER BY mme_inner__ DESC LIMIT 5) AS anon_1 ON route = route__ WHERE sailed >= TO_DATE('2025-01-01', 'YYYY-MM-DD') GROUP BY DATE_TRUNC('month', sailed), route ORDER BY "SUM(fare)" DESC LIMIT 10000
--= refused: MIN is not supported: one person's row can decide it
SELECT min(fare) AS min, max(fare) AS max FROM public.trips LIMIT 1000
--= answered
SELECT sum(fare) FILTER (WHERE channel = 'web') AS web, sum(fare) FILTER (WHERE channel = 'desk') AS desk, sum(fare) AS total FROM public.trips LIMIT 50000
--= answered
SELECT month AS month, sum(revenue) AS "SUM(revenue)" FROM (SELECT date_trunc('month', sailed) AS month, route, SUM(fare) AS revenue
FROM trips
WHERE NOT cancelled
GROUP BY 1, 2
ORDER BY 1) AS virtual_table WHERE month >= TO_TIMESTAMP('2025-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY month ORDER BY "SUM(revenue)" DESC LIMIT 10000
--= answered
SELECT date_trunc('month', sailed) AS __timestamp, route AS route, SUM(fare) AS "SUM(fare)" FROM trips JOIN (SELECT route AS route__, SUM(fare) AS mme_inner__ FROM trips WHERE sailed >= '2025-01-01' GROUP BY route ORDER BY mme_inner__ DESC LIMIT 2) AS series_limit ON route = route__ WHERE sailed >= '2025-01-01' GROUP BY date_trunc('month', sailed), route ORDER BY "SUM(fare)" DESC LIMIT 10000
--= answered
SELECT date_trunc('month', sailed) AS __timestamp, route AS route, channel AS channel, count(*) AS count FROM trips JOIN (SELECT route AS route__, channel AS channel__, count(*) AS mme_inner__ FROM trips GROUP BY route, channel ORDER BY mme_inner__ DESC LIMIT 3) AS series_limit ON route = route__ AND channel = channel__ GROUP BY date_trunc('month', sailed), route, channel ORDER BY count DESC LIMIT 10000
--= answered
SELECT month AS __timestamp, SUM(n) AS total FROM (SELECT date_trunc('month', sailed) AS month, COUNT(*) AS n FROM trips GROUP BY 1) AS virtual_table WHERE month >= TO_DATE('2025-01-01', 'YYYY-MM-DD') AND month < TO_DATE('2026-01-01', 'YYYY-MM-DD') GROUP BY month LIMIT 10
--= answered
SELECT DATE_TRUNC('year', month) AS __timestamp, sum(n) AS "SUM(n)" FROM (SELECT date_trunc('month', sailed) AS month, COUNT(*) AS n FROM trips GROUP BY 1) AS virtual_table WHERE month >= TO_TIMESTAMP('2024-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('year', month) ORDER BY "SUM(n)" DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('month', sailed) AS sailed, CASE WHEN series_limit.route__ IS NOT NULL THEN route ELSE 'Others' END AS route, sum(fare) AS "SUM(fare)" FROM public.trips LEFT OUTER JOIN (SELECT route AS route__, sum(fare) AS mme_inner__ FROM public.trips WHERE sailed >= TO_DATE('2025-01-01', 'YYYY-MM-DD') GROUP BY route ORDER BY mme_inner__ DESC LIMIT 2) AS series_limit ON route = route__ WHERE sailed >= TO_DATE('2025-01-01', 'YYYY-MM-DD') GROUP BY DATE_TRUNC('month', sailed), CASE WHEN series_limit.route__ IS NOT NULL THEN route ELSE 'Others' END ORDER BY "SUM(fare)" DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('month', sailed) AS sailed, COUNT(*) AS count FROM public.trips JOIN (SELECT route AS route__, COUNT(*) AS mme_inner__ FROM public.trips GROUP BY route ORDER BY mme_inner__ DESC LIMIT 2) AS anon_1 ON route = route__ GROUP BY DATE_TRUNC('month', sailed) ORDER BY count DESC LIMIT 10000
--= answered
SELECT sum("SUM(fare)") AS total, min(sailed) AS first, max(sailed) AS last FROM (SELECT DATE_TRUNC('month', sailed) AS sailed, sum(fare) AS "SUM(fare)" FROM public.trips GROUP BY DATE_TRUNC('month', sailed)) AS q LIMIT 1
--= answered
WITH t AS (SELECT route, DATE_TRUNC('month', sailed) AS m, SUM(fare) AS s FROM trips GROUP BY 1, 2) SELECT route, m, s, RANK() OVER (PARTITION BY m ORDER BY s DESC) AS r FROM t WHERE m >= '2025-01-01' ORDER BY m, r LIMIT 1000
--= answered
SELECT DATE_TRUNC('hour', booked_at) + INTERVAL '15 minutes' * FLOOR(EXTRACT(MINUTE FROM booked_at) / 15) AS booked_at, COUNT(*) AS count FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-03-02 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('hour', booked_at) + INTERVAL '15 minutes' * FLOOR(EXTRACT(MINUTE FROM booked_at) / 15) LIMIT 10000
--= answered
SELECT DATE_TRUNC('minute', booked_at) + INTERVAL '30 seconds' * FLOOR(EXTRACT(SECOND FROM booked_at) / 30) AS booked_at, COUNT(*) AS count FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-03-01 10:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-03-01 11:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('minute', booked_at) + INTERVAL '30 seconds' * FLOOR(EXTRACT(SECOND FROM booked_at) / 30) LIMIT 10000
--= answered
SELECT DATE_TRUNC('week', sailed + INTERVAL '1 day') - INTERVAL '1 day' AS sailed, COUNT(*) AS count FROM public.trips WHERE sailed >= '2025-01-01' AND sailed < '2025-03-01' GROUP BY DATE_TRUNC('week', sailed + INTERVAL '1 day') - INTERVAL '1 day' ORDER BY count DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('week', sailed + INTERVAL '1 day') + INTERVAL '5 days' AS sailed, AVG(fare) AS "AVG(fare)" FROM public.trips WHERE sailed >= '2025-01-01' AND sailed < '2025-03-01' GROUP BY DATE_TRUNC('week', sailed + INTERVAL '1 day') + INTERVAL '5 days' ORDER BY "AVG(fare)" DESC LIMIT 10000
--= answered
SELECT DATE_TRUNC('week', sailed - INTERVAL '1 day') + INTERVAL '1 day' AS sailed, AVG(fare) AS "AVG(fare)" FROM public.trips WHERE sailed >= '2025-01-01' AND sailed < '2025-03-01' GROUP BY 1 LIMIT 10000
--= answered
SELECT route AS route, COUNT(DISTINCT CAST(booked_at AS DATE)) AS days FROM public.trips GROUP BY route LIMIT 100
--= answered
SELECT route AS route, COUNT(DISTINCT passenger) AS "COUNT_DISTINCT(passenger)", sum(fare) / COUNT(DISTINCT passenger) AS arpu FROM public.trips WHERE cancelled IS false AND deck IS NOT NULL GROUP BY route ORDER BY arpu DESC LIMIT 100
--= answered
SELECT route AS route, COUNT(*) AS count FROM public.trips WHERE route NOT ILIKE '%line%' AND channel != 'phone' GROUP BY route ORDER BY count DESC LIMIT 1000
--= answered
SELECT (CASE WHEN cancelled THEN 'Lost' ELSE 'Sailed' END) AS status, channel AS channel, COUNT(*) AS count FROM public.trips GROUP BY (CASE WHEN cancelled THEN 'Lost' ELSE 'Sailed' END), channel ORDER BY count DESC LIMIT 10000
--= refused: MIN is not supported: one person's row can decide it
SELECT min(sailed) AS min, max(sailed) AS max FROM public.trips LIMIT 1000
--= answered
SELECT DATE_TRUNC('month', sailed) AS sailed, sum(fare) AS "SUM(fare)" FROM public.trips WHERE sailed >= TO_TIMESTAMP('2025-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND sailed < TO_TIMESTAMP('2025-12-31 23:59:59.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('month', sailed) ORDER BY sum(fare) DESC LIMIT 10000
--= answered
SELECT sum(fare) AS "SUM(fare)" FROM public.trips WHERE DATE_TRUNC('day', sailed) >= DATE_TRUNC('day', TO_TIMESTAMP('2025-01-01', 'YYYY-MM-DD')) LIMIT 1
--= answered
SELECT home AS home, sum(n) AS "SUM(n)", count(*) AS people FROM (SELECT p.passenger, p.home, count(t.passenger) AS n FROM passengers p LEFT JOIN trips t ON t.passenger = p.passenger GROUP BY p.passenger, p.home) AS virtual_table GROUP BY home ORDER BY "SUM(n)" DESC LIMIT 100
--= answered
SELECT route AS route, deck AS deck, COUNT(*) AS count FROM public.trips WHERE (route, deck) IN (('Cove Line', 'car'), ('Birch Point', 'open')) GROUP BY route, deck ORDER BY count DESC LIMIT 100
--= answered
SELECT route AS route, CASE WHEN fare >= 0 AND fare < 50 THEN '0-50' WHEN fare >= 50 AND fare < 100 THEN '50-100' WHEN fare >= 100 THEN '100+' END AS fare_band, COUNT(*) AS count FROM public.trips GROUP BY route, CASE WHEN fare >= 0 AND fare < 50 THEN '0-50' WHEN fare >= 50 AND fare < 100 THEN '50-100' WHEN fare >= 100 THEN '100+' END ORDER BY count DESC LIMIT 10000
--= answered
SELECT channel AS channel, (COUNT(*) FILTER (WHERE deck = 'car')) * 1.0 / NULLIF(COUNT(*), 0) AS car_share FROM public.trips GROUP BY channel ORDER BY car_share DESC LIMIT 100
--= answered
SELECT DATE_TRUNC('day', booked_at) AS booked_at, sum(sum(fare)) OVER (ORDER BY DATE_TRUNC('day', booked_at)) AS running FROM public.trips WHERE booked_at >= '2025-03-01 00:00:00.000000' AND booked_at < '2025-04-01 00:00:00.000000' GROUP BY DATE_TRUNC('day', booked_at) ORDER BY 1 LIMIT 1000
--= answered
SELECT TO_CHAR(booked_at, 'Day') AS weekday, TO_CHAR(booked_at, 'HH24:00') AS hour, COUNT(*) AS count FROM public.trips GROUP BY TO_CHAR(booked_at, 'Day'), TO_CHAR(booked_at, 'HH24:00') LIMIT 10000
--= answered
SELECT CAST(fare AS INTEGER) / 10 * 10 AS bin, COUNT(*) AS count FROM public.trips GROUP BY CAST(fare AS INTEGER) / 10 * 10 ORDER BY bin LIMIT 1000
--= refused: * is not answered: single rows are never returned
SELECT * FROM public.trips LIMIT 100
--= answered
SELECT COUNT(*) AS count FROM public.trips WHERE booked_at >= DATE_TRUNC('day', NOW()) - INTERVAL '7 DAYS' LIMIT 50000
--= answered
SELECT EXTRACT(YEAR FROM sailed) || '-Q' || EXTRACT(QUARTER FROM sailed) AS q, COUNT(*) AS count FROM public.trips GROUP BY EXTRACT(YEAR FROM sailed) || '-Q' || EXTRACT(QUARTER FROM sailed) ORDER BY q LIMIT 100
--= answered
SELECT COUNT(*) AS rowcount FROM (SELECT * FROM public.trips WHERE sailed >= TO_DATE('2025-01-01', 'YYYY-MM-DD') LIMIT 50000) AS rowcount_qry LIMIT 50000
--= answered
SELECT DISTINCT channel AS channel FROM (SELECT * FROM public.trips) AS virtual_table LIMIT 1000
--= answered
SELECT band AS band FROM (SELECT t.*, CASE WHEN t.fare < 25 THEN 'low' ELSE 'high' END AS band FROM trips t) AS virtual_table GROUP BY band LIMIT 10000
--= answered
SELECT DATE_TRUNC('hour', booked_at) + INTERVAL '15 minutes' * FLOOR(EXTRACT(MINUTE FROM booked_at) / 15) AS booked_at, COUNT(*) AS count FROM public.trips WHERE booked_at >= TO_TIMESTAMP('2025-05-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND booked_at < TO_TIMESTAMP('2025-05-02 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('hour', booked_at) + INTERVAL '15 minutes' * FLOOR(EXTRACT(MINUTE FROM booked_at) / 15) ORDER BY count DESC LIMIT 10000
--= answered
SELECT (EXTRACT(MINUTE FROM booked_at) / 10)::int * 10 AS minute, COUNT(*) AS count FROM public.trips GROUP BY (EXTRACT(MINUTE FROM booked_at) / 10)::int * 10 ORDER BY count DESC LIMIT 100

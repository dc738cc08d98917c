-- Questions in the forms that Grafana sends to PostgreSQL, with its macros expanded: time groups, time filters, variables.
-- policy: meters
-- floor: 95

--= answered
SELECT floor(extract(epoch from ts)/3600)*3600 AS "time", avg(watts) AS "watts" FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-02T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", count(*) AS "readings" FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-04-01T00:00:00Z' GROUP BY time ORDER BY time
--= answered
SELECT floor(extract(epoch from ts)/604800)*604800 AS "time", sum(watts) AS value FROM readings WHERE ts BETWEEN '2025-01-01T00:00:00Z' AND '2025-12-31T23:59:59Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", room AS metric, avg(watts) AS value FROM readings WHERE ts BETWEEN '2025-03-01T06:00:00Z' AND '2025-03-08T06:00:00Z' GROUP BY 1, 2 ORDER BY 1, 2
--= answered
SELECT floor(extract(epoch from ts)/21600)*21600 AS "time", room, sum(watts) FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00.123Z' AND '2025-03-03T00:00:00.456Z' AND room IN ('hall','kitchen') GROUP BY 1, room ORDER BY 1
--= answered
SELECT floor((epoch)/86400)*86400 AS "time", count(*) AS n FROM readings WHERE epoch >= 1740787200 AND epoch <= 1743465600 GROUP BY 1 ORDER BY 1
--= answered
SELECT floor((epoch)/3600)*3600 AS "time", avg(watts) AS watts FROM readings WHERE epoch >= 1740787200 AND epoch <= 1740873600 GROUP BY 1 ORDER BY 1
--= answered
SELECT (epoch)/86400*86400 AS "time", count(*) AS n FROM readings WHERE epoch >= 1740787200 AND epoch <= 1743465600 GROUP BY 1 ORDER BY 1
--= answered
SELECT date_trunc('day', ts) AS "time", count(*) FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-15T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT date_trunc('hour', ts) AS "time", avg(volts) AS volts FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-02T00:00:00Z' GROUP BY "time" ORDER BY "time"
--= answered
SELECT date_trunc('month', ts) AS "time", sum(watts) AS total FROM readings WHERE ts >= '2025-01-01T00:00:00Z' AND ts <= '2025-12-31T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT date_trunc('week', ts) AS "time", room AS metric, count(*) AS value FROM readings WHERE ts >= '2025-02-01T00:00:00Z' AND ts < '2025-05-01T00:00:00Z' GROUP BY 1, 2 ORDER BY 1
--= answered
SELECT count(*) AS value FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z'
--= answered
SELECT avg(watts) AS value FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' AND room = 'kitchen'
--= answered
SELECT COUNT(household), room FROM readings GROUP BY room LIMIT 50
--= answered
SELECT AVG(watts), room FROM readings GROUP BY room LIMIT 50
--= answered
SELECT SUM(watts), phase FROM readings WHERE fault = true GROUP BY phase ORDER BY phase ASC LIMIT 50
--= answered
SELECT COUNT(*) AS "faults", room FROM readings WHERE (fault = true AND watts > 100) GROUP BY room ORDER BY faults DESC LIMIT 50
--= answered
SELECT room, count(*) AS n FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' AND room IN ('attic','cellar','hall','kitchen') GROUP BY room ORDER BY n DESC
--= answered
SELECT count(DISTINCT household) AS households FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z'
--= answered
SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", count(DISTINCT household) AS households FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", percentile_cont(0.5) WITHIN GROUP (ORDER BY watts) AS median FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-08T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY watts) AS p95 FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z'
--= answered
SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", sum(CASE WHEN fault THEN 1 ELSE 0 END) AS faults, count(*) AS readings FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", 100.0 * sum(CASE WHEN fault THEN 1 ELSE 0 END) / count(*) AS "fault rate" FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", count(*) FILTER (WHERE fault) AS faults FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT extract(epoch from date_trunc('day', ts)) AS "time", count(*) AS value FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT extract(hour FROM ts) AS hour, avg(watts) AS watts FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT extract(isodow FROM ts) AS weekday, sum(watts) AS watts FROM readings GROUP BY 1 ORDER BY 1
--= answered
SELECT to_char(ts, 'YYYY-MM') AS month, sum(watts) AS watts FROM readings GROUP BY 1 ORDER BY 1
--= answered
SELECT to_timestamp(floor(extract(epoch from ts)/3600)*3600) AS "time", avg(watts) AS watts FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-02T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT date_bin('15 minutes', ts, TIMESTAMP '2025-01-01') AS "time", avg(watts) FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-01T12:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT DISTINCT room FROM readings
--= answered
SELECT DISTINCT room AS __text, room AS __value FROM readings ORDER BY 1
--= answered
SELECT room FROM readings GROUP BY room ORDER BY room
--= answered
SELECT DISTINCT district FROM households ORDER BY district
--= answered
SELECT h.district AS metric, floor(extract(epoch from r.ts)/86400)*86400 AS "time", avg(r.watts) AS value FROM readings r JOIN households h ON r.household = h.household WHERE r.ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-15T00:00:00Z' GROUP BY 1, 2 ORDER BY 2
--= answered
SELECT h.solar, count(DISTINCT r.household) FROM readings r INNER JOIN households h USING (household) WHERE r.ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' GROUP BY h.solar
--= answered
SELECT district, avg(persons) AS persons FROM households GROUP BY district ORDER BY district
--= answered
SELECT district, count(*) AS n FROM households WHERE district IN ('hill','lake') GROUP BY district
--= answered
SELECT sum(watts) / 1000.0 AS "kW" FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z'
--= answered
SELECT now() AS "time", count(*) AS value FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z'
--= answered
SELECT '2025-03-31T00:00:00Z' AS "time", count(*) AS value FROM readings WHERE ts <= '2025-03-31T00:00:00Z'
--= answered
SELECT count(*) AS value FROM readings WHERE ts > now() - interval '24 hours'
--= answered
SELECT avg(watts) AS value FROM readings WHERE ts >= now() - interval '7 days' AND ts < now()
--= answered
SELECT stddev(watts) AS deviation FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z'
--= answered
SELECT "time", sum(n) OVER (ORDER BY "time") AS running FROM (SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", count(*) AS n FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' GROUP BY 1) AS daily ORDER BY 1
--= answered
WITH daily AS (SELECT date_trunc('day', ts) AS "time", sum(watts) AS watts FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' GROUP BY 1) SELECT "time", watts, avg(watts) OVER (ORDER BY "time" ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS smooth FROM daily ORDER BY 1
--= answered
SELECT floor(watts/1000)*1000 AS bucket, count(*) AS n FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT width_bucket(watts, 0, 20000, 20) AS bucket, count(*) FROM readings GROUP BY 1 ORDER BY 1
--= answered
SELECT room AS metric, round(avg(watts)::numeric, 1) AS value FROM readings GROUP BY room ORDER BY value DESC
--= answered
SELECT concat('room ', room) AS metric, count(*) AS value FROM readings GROUP BY 1
--= answered
SELECT CASE phase WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'three' END AS metric, avg(volts) AS value FROM readings GROUP BY 1
--= answered
SELECT 'total' AS metric, count(*) AS value FROM readings
--= answered
SELECT count(*) FROM public.readings AS r WHERE r.volts IS NOT NULL AND r.ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z'
--= answered
SELECT firmware AS metric, count(*) AS value FROM readings GROUP BY firmware ORDER BY value DESC LIMIT 10
--= answered
SELECT coalesce(avg(watts), 0) AS value FROM readings WHERE room = 'hall'
--= answered
SELECT phase::text AS metric, count(*) AS value FROM readings GROUP BY 1 ORDER BY 1
--= answered
SELECT ts::date AS "time", count(*) AS value FROM readings WHERE ts::date BETWEEN '2025-03-01' AND '2025-03-31' GROUP BY 1 ORDER BY 1
--= answered
SELECT avg(watts) FILTER (WHERE room = 'hall') AS hall, avg(watts) FILTER (WHERE room = 'kitchen') AS kitchen FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z'
--= answered
SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", avg(watts) AS watts FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T00:00:00Z' AND room ~* '^(hall|kitchen)$' GROUP BY 1 ORDER BY 1
--= answered
SELECT 1
--= refused: column "ts" stands outside any aggregate
SELECT ts AS "time", watts AS value FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-02T00:00:00Z' ORDER BY ts
--= answered
SELECT
  floor(extract(epoch from ts)/300)*300 AS "time",
  avg(watts) AS "watts"
FROM readings
WHERE
  ts BETWEEN '2025-06-10T08:00:00Z' AND '2025-06-10T14:00:00Z'
GROUP BY 1
ORDER BY 1
--= answered
SELECT
  floor(extract(epoch from ts)/60)*60 AS "time",
  room AS metric,
  avg(watts) AS "watts"
FROM readings
WHERE
  ts BETWEEN '2025-06-10T08:00:00Z' AND '2025-06-10T09:00:00Z'
GROUP BY 1,2
ORDER BY 1,2
--= answered
SELECT floor(extract(epoch from ts)/30)*30 AS "time", count(*) FROM readings WHERE ts BETWEEN '2025-06-10T08:00:00Z' AND '2025-06-10T09:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT time_bucket('300.000s',ts) AS "time", avg(watts) AS watts FROM readings WHERE ts BETWEEN '2025-06-10T08:00:00Z' AND '2025-06-10T14:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT time_bucket('1h', ts) AS "time", sum(watts) FROM readings WHERE ts BETWEEN '2025-06-10T00:00:00Z' AND '2025-06-11T00:00:00Z' GROUP BY "time" ORDER BY "time"
--= answered
SELECT time_bucket('15m', ts) AS bucket, count(*) FROM readings WHERE ts BETWEEN '2025-06-10T00:00:00Z' AND '2025-06-11T00:00:00Z' GROUP BY bucket ORDER BY bucket
--= answered
SELECT time_bucket(INTERVAL '1 day', ts) AS "time", room AS metric, sum(watts) AS value FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T23:59:59Z' GROUP BY 1, 2 ORDER BY 1
--= answered
SELECT floor((epoch)/300)*300 AS "time", avg(volts) AS volts FROM readings WHERE epoch >= 1749542400 AND epoch <= 1749564000 GROUP BY 1 ORDER BY 1
--= answered
SELECT
  floor(extract(epoch from ts)/86400)*86400 AS "time",
  (CASE WHEN sum(watts) >= lag(sum(watts)) OVER (ORDER BY floor(extract(epoch from ts)/86400)*86400) THEN sum(watts) - lag(sum(watts)) OVER (ORDER BY floor(extract(epoch from ts)/86400)*86400) WHEN lag(sum(watts)) OVER (ORDER BY floor(extract(epoch from ts)/86400)*86400) IS NULL THEN NULL ELSE sum(watts) END) AS "watts"
FROM readings
WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T23:59:59Z'
GROUP BY 1
ORDER BY 1
--= answered
SELECT
  floor(extract(epoch from ts)/86400)*86400 AS "time",
  room AS metric,
  avg(watts) - lag(avg(watts)) OVER (PARTITION BY room ORDER BY floor(extract(epoch from ts)/86400)*86400) AS "watts"
FROM readings
WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T23:59:59Z'
GROUP BY 1,2
ORDER BY 1,2
--= answered
SELECT avg(watts) FROM readings WHERE ts >= '2025-06-01T00:00:00Z'::timestamptz AND ts < '2025-06-30T00:00:00Z'::timestamptz AND ('hall' = 'All' OR room = 'hall')
--= answered
SELECT room, avg(watts) FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T23:59:59Z' AND room = ANY(ARRAY['hall','attic']) GROUP BY room
--= answered
SELECT AVG(watts) AS "avg_watts", SUM(watts) AS "sum_watts", room FROM readings WHERE (ts >= '2025-06-01T00:00:00Z' AND ts <= '2025-06-30T00:00:00Z') GROUP BY room ORDER BY avg_watts DESC LIMIT 50
--= answered
SELECT COUNT(*), fault, room FROM readings WHERE (room = 'hall' OR room = 'attic') GROUP BY fault, room LIMIT 50
--= answered
SELECT COUNT(*), district FROM households WHERE solar = true GROUP BY district LIMIT 50
--= answered
SELECT count(*) AS "count", date_trunc('hour', ts) AS "time" FROM "public"."readings" WHERE ts BETWEEN '2025-06-10T00:00:00Z' AND '2025-06-12T00:00:00Z' GROUP BY date_trunc('hour', ts) ORDER BY time ASC
--= answered
SELECT extract(epoch from date_trunc('hour', ts))*1000 AS "time", avg(watts) AS watts FROM readings WHERE ts BETWEEN '2025-06-10T00:00:00Z' AND '2025-06-12T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT floor(extract(epoch from ts)*1000/3600000)*3600000 AS "time", avg(watts) AS watts FROM readings WHERE ts BETWEEN '2025-06-10T00:00:00Z' AND '2025-06-12T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT date_bin('1 hour', ts, '2025-01-01') AS "time", avg(watts) FROM readings WHERE ts BETWEEN '2025-06-10T00:00:00Z' AND '2025-06-12T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT date_trunc('day', ts AT TIME ZONE 'UTC') AS "time", sum(watts) FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT to_char(ts, 'HH24') AS hour, avg(watts) FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY hour ORDER BY hour
--= answered
SELECT CASE WHEN extract(isodow from ts) IN (6,7) THEN 'weekend' ELSE 'weekday' END AS metric, avg(watts) AS value FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1
--= answered
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY watts) AS p50, percentile_cont(0.9) WITHIN GROUP (ORDER BY watts) AS p90, percentile_cont(0.99) WITHIN GROUP (ORDER BY watts) AS p99 FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z'
--= refused: a list of known values reads no rows, so its conditions can
SELECT DISTINCT room FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' ORDER BY room
--= answered
SELECT DISTINCT phase::text AS __text, phase AS __value FROM readings ORDER BY phase
--= answered
SELECT DISTINCT room FROM readings WHERE room LIKE 'h%'
--= answered
SELECT room || ' ' || phase AS metric, avg(watts) AS value FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT '2025-06-30T00:00:00Z'::timestamptz AS "time", room AS metric, count(*) AS value FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY room
--= answered
SELECT count(*) AS total, count(*) FILTER (WHERE fault) AS faults, round(100.0 * count(*) FILTER (WHERE fault) / NULLIF(count(*), 0), 2) AS pct FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z'
--= answered
WITH h AS (SELECT date_trunc('hour', ts) AS hour, avg(watts) AS w FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-08T00:00:00Z' GROUP BY 1) SELECT hour AS "time", w AS watts, max(w) OVER () AS peak FROM h ORDER BY hour
--= answered
SELECT max(w) AS peak FROM (SELECT date_trunc('hour', ts) AS hour, avg(watts) AS w FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-08T00:00:00Z' GROUP BY 1) h
--= answered
SELECT h.district AS metric, sum(r.watts) / count(DISTINCT r.household) AS value FROM readings r JOIN households h USING (household) WHERE r.ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY h.district ORDER BY value DESC
--= answered
SELECT floor(extract(epoch from r.ts)/86400)*86400 AS "time", sum(CASE WHEN h.solar THEN r.watts ELSE 0 END) AS solar, sum(CASE WHEN NOT h.solar THEN r.watts ELSE 0 END) AS other FROM readings r LEFT JOIN households h ON h.household = r.household WHERE r.ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT count(*) FROM readings WHERE ts > NOW() - INTERVAL '30 days' AND ts <= NOW()
--= answered
SELECT count(*) AS value FROM readings WHERE ts >= to_timestamp(1748736000) AND ts < to_timestamp(1751241600)
--= answered
SELECT count(*) AS value FROM readings WHERE ts >= '2025-06-01T00:00:00Z'::timestamp - interval '7 days' AND ts < '2025-06-30T00:00:00Z'::timestamp - interval '7 days'
--= answered
SELECT floor(extract(epoch from ts)/604800)*604800 AS "time", firmware AS metric, count(*) AS value FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' AND firmware IS NOT NULL GROUP BY 1, 2 ORDER BY 1
--= answered
SELECT "time", metric, value FROM (SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", room AS metric, avg(watts) AS value FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1, 2) q WHERE value > 100 ORDER BY "time"
--= answered
SELECT ts::date AS "time", avg(watts) AS watts, avg(watts) - avg(avg(watts)) OVER (ORDER BY ts::date ROWS BETWEEN 7 PRECEDING AND 1 PRECEDING) AS deviation FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY ts::date ORDER BY 1
--= refused: MAX is not supported: one person's row can decide it
SELECT floor(extract(epoch from ts)/3600)*3600 AS "time", max(watts) AS watts FROM readings WHERE ts BETWEEN '2025-06-10T00:00:00Z' AND '2025-06-11T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT room AS metric, count(*) AS value FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' AND room NOT LIKE '%x%' AND phase::int IN (1,2) AND watts > 0 GROUP BY room HAVING count(*) > 5 ORDER BY 2 DESC LIMIT 5
--= answered
SELECT avg(watts) FROM readings WHERE ts >= '2025-06-01T00:00:00Z' AND ts < '2025-06-30T00:00:00Z' AND ('All' = 'All' OR room = 'All')
--= answered
SELECT to_char(date_trunc('month', ts), 'Mon YYYY') AS month, count(*) FROM readings GROUP BY date_trunc('month', ts) ORDER BY date_trunc('month', ts)
--= answered
SELECT time + INTERVAL '1 hour' AS time, n AS value FROM (SELECT date_trunc('day', ts) AS time, count(*) AS n FROM readings WHERE ts >= '2025-06-01T00:00:00Z' AND ts < '2025-06-30T00:00:00Z' GROUP BY 1) q WHERE time >= '2025-06-02T00:00:00Z' AND time < '2025-06-29T00:00:00Z' ORDER BY 1
--= answered
SELECT date_trunc('day', ts) AS time, count(*) AS value FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1 HAVING date_trunc('day', ts) >= '2025-06-02T00:00:00Z' ORDER BY 1
--= answered
SELECT extract(epoch FROM time)::bigint * 1000 AS time_ms, n FROM (SELECT date_trunc('day', ts) AS time, count(*) AS n FROM readings WHERE ts >= '2025-06-01' AND ts < '2025-06-30' GROUP BY 1) q ORDER BY 1
--= answered
SELECT gs AS "time", COALESCE(q.n, 0) AS value FROM generate_series('2025-03-01T00:00:00Z'::timestamptz, '2025-03-02T00:00:00Z'::timestamptz, interval '1 hour') gs LEFT JOIN (SELECT date_trunc('hour', ts) AS h, count(*) AS n FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-02T00:00:00Z' GROUP BY 1) q ON q.h = gs ORDER BY 1
--= answered
WITH buckets AS (SELECT generate_series(date_trunc('day', '2025-03-01T00:00:00Z'::timestamptz), '2025-03-31T00:00:00Z'::timestamptz, '1 day'::interval) AS "time"), data AS (SELECT date_trunc('day', ts) AS "time", sum(watts) AS w FROM readings GROUP BY 1) SELECT b."time", coalesce(d.w, 0) AS watts FROM buckets b LEFT JOIN data d USING ("time") ORDER BY 1
--= answered
SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", CASE WHEN top.room IS NULL THEN 'others' ELSE readings.room END AS metric, sum(watts) FROM readings LEFT JOIN (SELECT room FROM readings GROUP BY room ORDER BY sum(watts) DESC LIMIT 2) top ON top.room = readings.room WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-12T00:00:00Z' GROUP BY 1, 2 ORDER BY 1
--= answered
SELECT count(*) AS value, 'now' AS metric FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-08T00:00:00Z' UNION ALL SELECT count(*), 'week before' FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z'::timestamptz - interval '7 day' AND '2025-03-08T00:00:00Z'::timestamptz - interval '7 day'
--= answered
SELECT (floor(extract(epoch from ts)/60)*60) AS "time", approx_percentile(0.95, percentile_agg(watts)) FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-01T01:00:00Z' GROUP BY 1
--= answered
SELECT time_bucket_gapfill('1 day', ts) AS "time", avg(watts) AS watts FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT count(*) FROM readings WHERE epoch >= 1740787200 AND epoch <= 1743465600 AND fault IS TRUE
--= answered
SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", 100 * avg(fault::int) AS "fault %" FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT room, avg(watts) AS avg, percentile_cont(0.5) within group (order by watts) AS p50, stddev(watts) AS sd, count(*) AS n FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY room ORDER BY avg DESC
--= answered
SELECT date_trunc('day', ts AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Berlin') AS "time", sum(watts) FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT date_trunc('hour', to_timestamp(epoch)) AS "time", avg(watts) AS watts FROM readings WHERE epoch >= 1749542400 AND epoch <= 1749628800 GROUP BY 1 ORDER BY 1
--= answered
SELECT count(*) FROM readings WHERE room = ANY('{hall,attic}'::text[])
--= answered
SELECT count(*) FROM readings WHERE room = ANY(string_to_array('hall,attic', ','))
--= answered
SELECT count(*) FROM readings WHERE room IN ('hall','attic') AND firmware ~ '^2\.'
--= answered
SELECT avg(CASE WHEN room = 'hall' THEN watts END) AS hall, avg(CASE WHEN room = 'attic' THEN watts END) AS attic FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z'
--= answered
SELECT floor(extract(epoch from ts)/3600)*3600*1000 AS "time", count(*) FROM readings WHERE ts BETWEEN '2025-06-10T00:00:00Z' AND '2025-06-11T00:00:00Z' GROUP BY 1
--= answered
SELECT district FROM households GROUP BY 1 HAVING count(*) > 20
--= answered
SELECT extract(epoch from ts)::bigint / 86400 * 86400 AS time, count(*) AS n FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY time ORDER BY time
--= answered
SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", sum(watts)/count(DISTINCT household) AS "per household" FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT avg(watts) AS now, (SELECT avg(watts) FROM readings WHERE ts BETWEEN '2025-05-01T00:00:00Z' AND '2025-05-31T00:00:00Z') AS before FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z'
--= answered
SELECT "time", "hall" - "attic" AS diff FROM (SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", avg(watts) FILTER (WHERE room = 'hall') AS "hall", avg(watts) FILTER (WHERE room = 'attic') AS "attic" FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1) AS x ORDER BY 1
--= answered
SELECT floor(extract(epoch from ts)/86400)*86400 AS "time", width_bucket(watts, 0, 3000, 10) * 300 AS bucket, count(*) FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-08T00:00:00Z' GROUP BY 1, 2 ORDER BY 1
--= answered
SELECT COALESCE(count(*) FILTER (WHERE fault), 0) AS value, CASE WHEN count(*) FILTER (WHERE fault) > 10 THEN 'alert' ELSE 'ok' END AS state FROM readings WHERE ts > now() - interval '1 hour'
--= answered
SELECT EXTRACT(EPOCH FROM time_bucket('1d', ts)) * 1000 AS time, room AS metric, COUNT(*) AS value FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY time_bucket('1d', ts), room ORDER BY time_bucket('1d', ts)
--= answered
SELECT time_bucket_gapfill('3600s', ts, '2025-06-10T00:00:00Z', '2025-06-11T00:00:00Z') AS "time", room AS metric, avg(watts) AS watts FROM readings WHERE ts BETWEEN '2025-06-10T00:00:00Z' AND '2025-06-11T00:00:00Z' GROUP BY 1, 2 ORDER BY 1
--= answered
SELECT time_bucket_gapfill('1 day', ts) AS "time", locf(avg(watts)) AS watts FROM readings WHERE ts BETWEEN '2025-06-10T00:00:00Z' AND '2025-06-20T00:00:00Z' GROUP BY 1 ORDER BY 1
--= answered
SELECT count(*) FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-02T00:00:00Z' AND room IN (SELECT unnest(string_to_array('hall,kitchen', ',')))
--= answered
SELECT count(*) FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-02T00:00:00Z' AND room IN (SELECT unnest(ARRAY['hall','kitchen']))
--= answered
SELECT 'All' AS __text, '%' AS __value UNION SELECT DISTINCT room, room FROM readings
--= answered
SELECT 'All' UNION ALL SELECT DISTINCT room FROM readings
--= answered
SELECT time_bucket('1 day', ts, 'UTC') AS time, sum(watts) FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1
--= answered
SELECT time_bucket('1 week', ts, INTERVAL '1 day') AS time, sum(watts) FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' GROUP BY 1
--= answered
SELECT count(*) FROM readings WHERE ts BETWEEN '2025-06-01T00:00:00Z' AND '2025-06-30T00:00:00Z' AND room IN (VALUES ('hall'), ('attic'))
--= answered
SELECT time_bucket_gapfill('1 day', ts) AS "time", room AS metric, interpolate(avg(watts)) FROM readings WHERE ts BETWEEN '2025-06-10T00:00:00Z' AND '2025-06-20T00:00:00Z' GROUP BY 1, 2 ORDER BY 1
--= answered
SELECT floor(extract(epoch from ts)/300)*300 AS "time", room AS metric, count(*) AS value FROM readings WHERE ts BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-01T05:59:59.999Z' GROUP BY 1, 2 ORDER BY 1, 2
--= answered
SELECT floor((epoch)/300)*300 AS "time", sum(watts) AS value FROM readings WHERE epoch >= 1740787200 AND epoch <= 1740808799 GROUP BY 1 ORDER BY 1

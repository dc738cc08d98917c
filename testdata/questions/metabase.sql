-- Questions in the forms that Metabase sends to PostgreSQL: its query builder, its filters, its field values.
-- policy: ferry
-- floor: 95

--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips"
--= answered
-- Metabase:: userID: 3 queryType: MBQL queryHash: 5f0d2a
SELECT COUNT(*) AS "count" FROM "public"."passengers"
--= answered
SELECT "public"."trips"."route" AS "route", COUNT(*) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC
--= answered
SELECT "public"."trips"."deck" AS "deck", "public"."trips"."channel" AS "channel", COUNT(*) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."deck", "public"."trips"."channel" ORDER BY "public"."trips"."deck" ASC, "public"."trips"."channel" ASC
--= answered
SELECT SUM("public"."trips"."fare") AS "sum" FROM "public"."trips"
--= answered
SELECT AVG("public"."trips"."fare") AS "avg" FROM "public"."trips" WHERE "public"."trips"."cancelled" = FALSE
--= answered
SELECT COUNT(distinct "public"."trips"."passenger") AS "count" FROM "public"."trips"
--= answered
SELECT "public"."trips"."route" AS "route", SUM("public"."trips"."fare") AS "sum", AVG("public"."trips"."fare") AS "avg", COUNT(*) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "sum" DESC, "public"."trips"."route" ASC
--= answered
SELECT "public"."trips"."route" AS "route", COUNT(*) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "count" DESC, "public"."trips"."route" ASC LIMIT 3
--= answered
SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC
--= answered
SELECT CAST(DATE_TRUNC('year', "public"."trips"."sailed") AS date) AS "sailed", SUM("public"."trips"."fare") AS "sum" FROM "public"."trips" GROUP BY CAST(DATE_TRUNC('year', "public"."trips"."sailed") AS date) ORDER BY CAST(DATE_TRUNC('year', "public"."trips"."sailed") AS date) ASC
--= answered
SELECT CAST(DATE_TRUNC('quarter', "public"."trips"."sailed") AS date) AS "sailed", AVG("public"."trips"."delay_minutes") AS "avg" FROM "public"."trips" GROUP BY CAST(DATE_TRUNC('quarter', "public"."trips"."sailed") AS date) ORDER BY CAST(DATE_TRUNC('quarter', "public"."trips"."sailed") AS date) ASC
--= answered
SELECT CAST((CAST(DATE_TRUNC('week', CAST(("public"."trips"."sailed" + INTERVAL '1 day') AS date)) AS date) + INTERVAL '-1 day') AS date) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST((CAST(DATE_TRUNC('week', CAST(("public"."trips"."sailed" + INTERVAL '1 day') AS date)) AS date) + INTERVAL '-1 day') AS date) ORDER BY CAST((CAST(DATE_TRUNC('week', CAST(("public"."trips"."sailed" + INTERVAL '1 day') AS date)) AS date) + INTERVAL '-1 day') AS date) ASC
--= answered
SELECT "public"."trips"."sailed" AS "sailed", COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."sailed" >= date '2025-03-01') AND ("public"."trips"."sailed" < date '2025-04-01') GROUP BY "public"."trips"."sailed" ORDER BY "public"."trips"."sailed" ASC
--= answered
SELECT DATE_TRUNC('month', "public"."trips"."booked_at") AS "booked_at", COUNT(*) AS "count" FROM "public"."trips" GROUP BY DATE_TRUNC('month', "public"."trips"."booked_at") ORDER BY DATE_TRUNC('month', "public"."trips"."booked_at") ASC
--= answered
SELECT CAST("public"."trips"."booked_at" AS date) AS "booked_at", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST("public"."trips"."booked_at" AS date) ORDER BY CAST("public"."trips"."booked_at" AS date) ASC
--= answered
SELECT (DATE_TRUNC('week', ("public"."trips"."booked_at" + INTERVAL '1 day')) + INTERVAL '-1 day') AS "booked_at", SUM("public"."trips"."fare") AS "sum" FROM "public"."trips" GROUP BY (DATE_TRUNC('week', ("public"."trips"."booked_at" + INTERVAL '1 day')) + INTERVAL '-1 day') ORDER BY (DATE_TRUNC('week', ("public"."trips"."booked_at" + INTERVAL '1 day')) + INTERVAL '-1 day') ASC
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE "public"."trips"."booked_at" BETWEEN timestamp with time zone '2025-01-01 00:00:00.000Z' AND timestamp with time zone '2025-02-01 00:00:00.000Z'
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."sailed" >= CAST((NOW() + INTERVAL '-30 day') AS date)) AND ("public"."trips"."sailed" < CAST(NOW() AS date))
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."sailed" >= CAST(DATE_TRUNC('month', (NOW() + INTERVAL '-1 month')) AS date)) AND ("public"."trips"."sailed" < CAST(DATE_TRUNC('month', NOW()) AS date))
--= answered
SELECT "public"."trips"."route" AS "route", COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."booked_at" >= DATE_TRUNC('year', NOW())) AND ("public"."trips"."booked_at" < DATE_TRUNC('year', (NOW() + INTERVAL '1 year'))) GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC
--= answered
SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."sailed" >= CAST(DATE_TRUNC('month', (NOW() + INTERVAL '-12 month')) AS date)) AND ("public"."trips"."sailed" < CAST(DATE_TRUNC('month', NOW()) AS date)) GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC
--= answered
SELECT (CAST(extract(dow from "public"."trips"."sailed") AS integer) + 1) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" GROUP BY (CAST(extract(dow from "public"."trips"."sailed") AS integer) + 1) ORDER BY (CAST(extract(dow from "public"."trips"."sailed") AS integer) + 1) ASC
--= answered
SELECT CAST(extract(month from "public"."trips"."sailed") AS integer) AS "sailed", AVG("public"."trips"."fare") AS "avg" FROM "public"."trips" GROUP BY CAST(extract(month from "public"."trips"."sailed") AS integer) ORDER BY CAST(extract(month from "public"."trips"."sailed") AS integer) ASC
--= answered
SELECT CAST(extract(quarter from "public"."trips"."sailed") AS integer) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(extract(quarter from "public"."trips"."sailed") AS integer) ORDER BY CAST(extract(quarter from "public"."trips"."sailed") AS integer) ASC
--= answered
SELECT CAST(extract(hour from "public"."trips"."booked_at") AS integer) AS "booked_at", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(extract(hour from "public"."trips"."booked_at") AS integer) ORDER BY CAST(extract(hour from "public"."trips"."booked_at") AS integer) ASC
--= answered
SELECT CAST(extract(day from "public"."trips"."booked_at") AS integer) AS "booked_at", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(extract(day from "public"."trips"."booked_at") AS integer) ORDER BY CAST(extract(day from "public"."trips"."booked_at") AS integer) ASC
--= answered
SELECT CAST(extract(week from "public"."trips"."sailed") AS integer) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(extract(week from "public"."trips"."sailed") AS integer) ORDER BY CAST(extract(week from "public"."trips"."sailed") AS integer) ASC
--= answered
SELECT FLOOR(("public"."trips"."fare" / 50.0)) * 50.0 AS "fare", COUNT(*) AS "count" FROM "public"."trips" GROUP BY FLOOR(("public"."trips"."fare" / 50.0)) * 50.0 ORDER BY FLOOR(("public"."trips"."fare" / 50.0)) * 50.0 ASC
--= answered
SELECT (FLOOR((("public"."trips"."fare" - 0.0) / 12.5)) * 12.5) + 0.0 AS "fare", COUNT(*) AS "count" FROM "public"."trips" GROUP BY (FLOOR((("public"."trips"."fare" - 0.0) / 12.5)) * 12.5) + 0.0 ORDER BY (FLOOR((("public"."trips"."fare" - 0.0) / 12.5)) * 12.5) + 0.0 ASC
--= answered
SELECT FLOOR(("public"."passengers"."birth_year" / 10.0)) * 10.0 AS "birth_year", COUNT(*) AS "count" FROM "public"."passengers" GROUP BY FLOOR(("public"."passengers"."birth_year" / 10.0)) * 10.0 ORDER BY FLOOR(("public"."passengers"."birth_year" / 10.0)) * 10.0 ASC
--= answered
SELECT FLOOR(("public"."passengers"."points" / 5000.0)) * 5000.0 AS "points", COUNT(*) AS "count" FROM "public"."passengers" GROUP BY FLOOR(("public"."passengers"."points" / 5000.0)) * 5000.0 ORDER BY FLOOR(("public"."passengers"."points" / 5000.0)) * 5000.0 ASC
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."route" = 'Alder Sound') OR ("public"."trips"."route" = 'Cove Line')
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."deck" <> 'car') OR ("public"."trips"."deck" IS NULL)
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."deck" IS NOT NULL) AND (("public"."trips"."deck" <> '') OR ("public"."trips"."deck" IS NULL))
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE (LOWER("public"."trips"."route") LIKE '%point%')
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."route" LIKE 'Cove%')
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE NOT (LOWER("public"."trips"."route") LIKE '%sound%') OR ("public"."trips"."route" IS NULL)
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE "public"."trips"."fare" BETWEEN 20 AND 80
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."fare" >= 100) AND ("public"."trips"."children" > 0) AND ("public"."trips"."channel" = 'web')
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE "public"."trips"."delay_minutes" IS NULL
--= answered
SELECT SUM(CASE WHEN "public"."trips"."cancelled" = TRUE THEN 1 ELSE 0.0 END) AS "count_where" FROM "public"."trips"
--= answered
SELECT "public"."trips"."route" AS "route", SUM(CASE WHEN "public"."trips"."channel" = 'web' THEN "public"."trips"."fare" ELSE 0.0 END) AS "sum_where" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC
--= answered
SELECT CAST(SUM(CASE WHEN "public"."trips"."cancelled" = TRUE THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(CAST(COUNT(*) AS DOUBLE PRECISION), 0.0) AS "share" FROM "public"."trips"
--= answered
SELECT "public"."trips"."channel" AS "channel", AVG(CASE WHEN "public"."trips"."cancelled" THEN 1 ELSE 0.0 END) AS "share" FROM "public"."trips" GROUP BY "public"."trips"."channel" ORDER BY "public"."trips"."channel" ASC
--= answered
SELECT CAST(SUM("public"."trips"."fare") AS DOUBLE PRECISION) / NULLIF(CAST(COUNT(distinct "public"."trips"."passenger") AS DOUBLE PRECISION), 0.0) AS "per head" FROM "public"."trips"
--= answered
SELECT STDDEV_POP("public"."trips"."fare") AS "stddev" FROM "public"."trips"
--= answered
SELECT VAR_POP("public"."trips"."luggage") AS "var" FROM "public"."trips"
--= answered
SELECT PERCENTILE_CONT(0.5) within group (order by "public"."trips"."fare") AS "median" FROM "public"."trips"
--= answered
SELECT "public"."trips"."route" AS "route", PERCENTILE_CONT(0.9) within group (order by "public"."trips"."delay_minutes") AS "percentile" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC
--= answered
SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", SUM(COUNT(*)) OVER (ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC ROWS UNBOUNDED PRECEDING) AS "count" FROM "public"."trips" GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC
--= answered
SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", SUM(SUM("public"."trips"."fare")) OVER (ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC ROWS UNBOUNDED PRECEDING) AS "sum" FROM "public"."trips" GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC
--= answered
SELECT "source"."sailed" AS "sailed", SUM("source"."fare") AS "sum", LAG(SUM("source"."fare"), 12) OVER (ORDER BY "source"."sailed" ASC) AS "a year ago" FROM (SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", "public"."trips"."fare" AS "fare" FROM "public"."trips") AS "source" GROUP BY "source"."sailed" ORDER BY "source"."sailed" ASC
--= answered
SELECT "Routes"."harbour" AS "Routes__harbour", COUNT(*) AS "count" FROM "public"."trips" LEFT JOIN "public"."routes" AS "Routes" ON "public"."trips"."route" = "Routes"."route" GROUP BY "Routes"."harbour" ORDER BY "Routes"."harbour" ASC
--= answered
SELECT "Passengers"."home" AS "Passengers__home", SUM("public"."trips"."fare") AS "sum" FROM "public"."trips" LEFT JOIN "public"."passengers" AS "Passengers" ON "public"."trips"."passenger" = "Passengers"."passenger" GROUP BY "Passengers"."home" ORDER BY "sum" DESC, "Passengers"."home" ASC
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" LEFT JOIN "public"."passengers" AS "Passengers" ON "public"."trips"."passenger" = "Passengers"."passenger" WHERE "Passengers"."member" = TRUE
--= answered
SELECT "Passengers"."sex" AS "Passengers__sex", "public"."trips"."channel" AS "channel", AVG("public"."trips"."fare") AS "avg" FROM "public"."trips" INNER JOIN "public"."passengers" AS "Passengers" ON "public"."trips"."passenger" = "Passengers"."passenger" GROUP BY "Passengers"."sex", "public"."trips"."channel" ORDER BY "Passengers"."sex" ASC, "public"."trips"."channel" ASC
--= answered
SELECT "source"."route" AS "route", COUNT(*) AS "count" FROM (SELECT "public"."trips"."passenger" AS "passenger", "public"."trips"."route" AS "route", "public"."trips"."fare" AS "fare", "public"."trips"."cancelled" AS "cancelled" FROM "public"."trips" WHERE "public"."trips"."fare" > 10) AS "source" WHERE "source"."cancelled" = FALSE GROUP BY "source"."route" ORDER BY "source"."route" ASC
--= answered
SELECT "source"."route" AS "route", "source"."count" AS "count" FROM (SELECT "public"."trips"."route" AS "route", COUNT(*) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC) AS "source" WHERE "source"."count" > 1000 LIMIT 1048575
--= answered
SELECT AVG("source"."count") AS "avg" FROM (SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date)) AS "source"
--= answered
SELECT MAX("source"."sum") AS "max" FROM (SELECT "public"."trips"."route" AS "route", SUM("public"."trips"."fare") AS "sum" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC) AS "source"
--= answered
SELECT "source"."band" AS "band", COUNT(*) AS "count" FROM (SELECT "public"."trips"."fare" AS "fare", CASE WHEN "public"."trips"."fare" < 25 THEN 'low' WHEN "public"."trips"."fare" < 100 THEN 'middle' ELSE 'high' END AS "band" FROM "public"."trips") AS "source" GROUP BY "source"."band" ORDER BY "source"."band" ASC
--= answered
SELECT "source"."total" AS "total", COUNT(*) AS "count" FROM (SELECT "public"."trips"."luggage" + "public"."trips"."children" AS "total" FROM "public"."trips") AS "source" GROUP BY "source"."total" ORDER BY "source"."total" ASC
--= answered
SELECT SUM("public"."trips"."fare" * 0.25) AS "sum" FROM "public"."trips"
--= answered
SELECT AVG(CAST("public"."trips"."fare" AS DOUBLE PRECISION) / NULLIF(CAST("public"."trips"."luggage" AS DOUBLE PRECISION), 0.0)) AS "avg" FROM "public"."trips"
--= answered
SELECT COALESCE("public"."trips"."deck", 'none') AS "deck", COUNT(*) AS "count" FROM "public"."trips" GROUP BY COALESCE("public"."trips"."deck", 'none') ORDER BY COALESCE("public"."trips"."deck", 'none') ASC
--= answered
SELECT CONCAT("public"."trips"."route", ' / ', "public"."trips"."channel") AS "line", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CONCAT("public"."trips"."route", ' / ', "public"."trips"."channel") ORDER BY CONCAT("public"."trips"."route", ' / ', "public"."trips"."channel") ASC
--= answered
SELECT SUBSTRING("public"."trips"."route", 1, 4) AS "start", COUNT(*) AS "count" FROM "public"."trips" GROUP BY SUBSTRING("public"."trips"."route", 1, 4) ORDER BY SUBSTRING("public"."trips"."route", 1, 4) ASC
--= answered
SELECT UPPER("public"."trips"."channel") AS "channel", COUNT(*) AS "count" FROM "public"."trips" GROUP BY UPPER("public"."trips"."channel") ORDER BY UPPER("public"."trips"."channel") ASC
--= answered
SELECT AVG(CAST("public"."trips"."sailed" AS date) - CAST("public"."trips"."booked_at" AS date)) AS "avg" FROM "public"."trips"
--= answered
SELECT AVG(CAST(extract(year from AGE(DATE_TRUNC('day', NOW()), DATE_TRUNC('day', "public"."passengers"."joined"))) AS integer)) AS "avg" FROM "public"."passengers"
--= answered
SELECT ROUND(CAST(AVG("public"."trips"."fare") AS numeric), 2) AS "avg" FROM "public"."trips"
--= answered
SELECT CEIL("public"."trips"."fare") AS "fare", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CEIL("public"."trips"."fare") ORDER BY CEIL("public"."trips"."fare") ASC
--= answered
SELECT AVG(POWER("public"."trips"."luggage", 2)) AS "avg", AVG(ABS("public"."trips"."fare" - 50)) AS "avg_2" FROM "public"."trips"
--= answered
SELECT "public"."trips"."route" AS "route" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC LIMIT 1001
--= answered
SELECT DISTINCT "public"."trips"."channel" AS "channel" FROM "public"."trips" ORDER BY "public"."trips"."channel" ASC LIMIT 1001
--= answered
SELECT "public"."routes"."harbour" AS "harbour" FROM "public"."routes" GROUP BY "public"."routes"."harbour" ORDER BY "public"."routes"."harbour" ASC LIMIT 1001
--= answered
SELECT "public"."trips"."agent" AS "agent", COUNT(*) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."agent" ORDER BY "count" DESC, "public"."trips"."agent" ASC LIMIT 10
--= answered
SELECT "public"."trips"."cancelled" AS "cancelled", COUNT(*) AS "count" FROM "public"."trips" WHERE "public"."trips"."channel" IN ('web', 'phone') GROUP BY "public"."trips"."cancelled" ORDER BY "public"."trips"."cancelled" ASC
--= answered
SELECT "public"."trips"."route" AS "route", COUNT(distinct "public"."trips"."passenger") AS "count" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC
--= answered
SELECT COUNT(distinct CASE WHEN "public"."trips"."children" > 0 THEN "public"."trips"."passenger" END) AS "families" FROM "public"."trips"
--= answered
SELECT "public"."passengers"."home" AS "home", "public"."passengers"."member" AS "member", COUNT(*) AS "count" FROM "public"."passengers" WHERE "public"."passengers"."birth_year" <= 1990 GROUP BY "public"."passengers"."home", "public"."passengers"."member" ORDER BY "count" DESC, "public"."passengers"."home" ASC, "public"."passengers"."member" ASC
--= answered
SELECT SUM("public"."trips"."fare") AS "sum", SUM("public"."trips"."luggage") AS "sum_2", COUNT(*) AS "count" FROM "public"."trips" WHERE date_part('year', "public"."trips"."sailed") = 2025
--= answered
SELECT 1
--= refused: column "passenger" would list single units
SELECT "public"."trips"."passenger" AS "passenger", "public"."trips"."route" AS "route", "public"."trips"."fare" AS "fare" FROM "public"."trips" LIMIT 2000
--= answered
SELECT "public"."trips"."route" AS "route", "public"."trips"."channel" AS "channel", ABS(0) AS "pivot-grouping", COUNT(*) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."route", "public"."trips"."channel", ABS(0) ORDER BY "public"."trips"."route" ASC, "public"."trips"."channel" ASC, ABS(0) ASC
--= answered
SELECT "source"."route" AS "route", "source"."channel" AS "channel", "source"."pivot-grouping" AS "pivot-grouping", COUNT(*) AS "count" FROM (SELECT "public"."trips"."route" AS "route", "public"."trips"."channel" AS "channel", ABS(0) AS "pivot-grouping" FROM "public"."trips") AS "source" GROUP BY "source"."route", "source"."channel", "source"."pivot-grouping" ORDER BY "source"."route" ASC, "source"."channel" ASC, "source"."pivot-grouping" ASC
--= answered
SELECT DATE_TRUNC('minute', "public"."trips"."booked_at") AS "booked_at", COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."booked_at" >= timestamp with time zone '2025-05-01 00:00:00.000Z') AND ("public"."trips"."booked_at" < timestamp with time zone '2025-05-02 00:00:00.000Z') GROUP BY DATE_TRUNC('minute', "public"."trips"."booked_at") ORDER BY DATE_TRUNC('minute', "public"."trips"."booked_at") ASC
--= answered
SELECT DATE_TRUNC('hour', "public"."trips"."booked_at") AS "booked_at", AVG("public"."trips"."fare") AS "avg" FROM "public"."trips" WHERE ("public"."trips"."booked_at" >= DATE_TRUNC('day', (NOW() + INTERVAL '-7 day'))) AND ("public"."trips"."booked_at" < DATE_TRUNC('day', NOW())) GROUP BY DATE_TRUNC('hour', "public"."trips"."booked_at") ORDER BY DATE_TRUNC('hour', "public"."trips"."booked_at") ASC
--= answered
SELECT CAST(extract(minute from "public"."trips"."booked_at") AS integer) AS "booked_at", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(extract(minute from "public"."trips"."booked_at") AS integer) ORDER BY CAST(extract(minute from "public"."trips"."booked_at") AS integer) ASC
--= answered
SELECT CAST(extract(doy from "public"."trips"."sailed") AS integer) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(extract(doy from "public"."trips"."sailed") AS integer) ORDER BY CAST(extract(doy from "public"."trips"."sailed") AS integer) ASC
--= answered
SELECT CEIL((CAST(extract(doy from CAST((CAST(DATE_TRUNC('week', CAST(("public"."trips"."sailed" + INTERVAL '1 day') AS date)) AS date) + INTERVAL '-1 day') AS date)) AS integer) / 7.0)) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CEIL((CAST(extract(doy from CAST((CAST(DATE_TRUNC('week', CAST(("public"."trips"."sailed" + INTERVAL '1 day') AS date)) AS date) + INTERVAL '-1 day') AS date)) AS integer) / 7.0)) ORDER BY CEIL((CAST(extract(doy from CAST((CAST(DATE_TRUNC('week', CAST(("public"."trips"."sailed" + INTERVAL '1 day') AS date)) AS date) + INTERVAL '-1 day') AS date)) AS integer) / 7.0)) ASC
--= answered
SELECT CAST(extract(year from "public"."trips"."sailed") AS integer) AS "sailed", SUM("public"."trips"."fare") AS "sum" FROM "public"."trips" GROUP BY CAST(extract(year from "public"."trips"."sailed") AS integer) ORDER BY CAST(extract(year from "public"."trips"."sailed") AS integer) ASC
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE "public"."trips"."sailed" = date '2025-05-01'
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE "public"."trips"."sailed" BETWEEN date '2025-05-01' AND date '2025-05-31'
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."booked_at" >= (DATE_TRUNC('week', (NOW() + INTERVAL '-6 day')) + INTERVAL '-1 day')) AND ("public"."trips"."booked_at" < (DATE_TRUNC('week', (NOW() + INTERVAL '1 day')) + INTERVAL '-1 day'))
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."sailed" >= CAST((CAST(DATE_TRUNC('week', CAST(((NOW() + INTERVAL '-4 week') + INTERVAL '1 day') AS date)) AS date) + INTERVAL '-1 day') AS date)) AND ("public"."trips"."sailed" < CAST((CAST(DATE_TRUNC('week', CAST((NOW() + INTERVAL '1 day') AS date)) AS date) + INTERVAL '-1 day') AS date))
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."sailed" >= CAST(DATE_TRUNC('quarter', (NOW() + INTERVAL '-3 month')) AS date)) AND ("public"."trips"."sailed" < CAST(DATE_TRUNC('quarter', NOW()) AS date))
--= answered
SELECT "public"."trips"."route" AS "route", COUNT(*) AS "count" FROM "public"."trips" WHERE ((CAST(extract(dow from "public"."trips"."sailed") AS integer) + 1) NOT IN (1, 7)) OR ("public"."trips"."sailed" IS NULL) GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE (((CAST(extract(dow from "public"."trips"."sailed") AS integer) + 1) <> 7) OR ((CAST(extract(dow from "public"."trips"."sailed") AS integer) + 1) IS NULL)) AND ((CAST(extract(hour from "public"."trips"."booked_at") AS integer) <> 0) OR (CAST(extract(hour from "public"."trips"."booked_at") AS integer) IS NULL))
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE (("public"."trips"."deck" IS NULL) OR ("public"."trips"."deck" = ''))
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."agent" LIKE '%Tours') AND ("public"."trips"."agent" <> 'Sun Tours')
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE (("public"."trips"."route" <> 'Alder Sound') OR ("public"."trips"."route" IS NULL)) AND (("public"."trips"."route" <> 'Cove Line') OR ("public"."trips"."route" IS NULL)) AND ("public"."trips"."fare" <> 0)
--= answered
SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", "public"."trips"."route" AS "route", SUM("public"."trips"."fare") AS "sum" FROM "public"."trips" WHERE ("public"."trips"."sailed" >= CAST(DATE_TRUNC('year', (NOW() + INTERVAL '-1 year')) AS date)) AND ("public"."trips"."sailed" < CAST(DATE_TRUNC('year', (NOW() + INTERVAL '1 year')) AS date)) GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date), "public"."trips"."route" ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC, "public"."trips"."route" ASC
--= answered
SELECT "source"."days" AS "days", COUNT(*) AS "count" FROM (SELECT (CAST("public"."trips"."sailed" AS date) - CAST("public"."trips"."reserved" AS date)) AS "days" FROM "public"."trips") AS "source" WHERE ("source"."days" >= 0) AND ("source"."days" < 60) GROUP BY "source"."days" ORDER BY "source"."days" ASC
--= answered
SELECT AVG(TRUNC(CAST((CAST(extract(epoch from "public"."trips"."sailed") AS bigint) - CAST(extract(epoch from "public"."trips"."booked_at") AS bigint)) AS DOUBLE PRECISION) / 3600)) AS "avg" FROM "public"."trips"
--= answered
SELECT AVG(CAST(((extract(year from AGE(DATE_TRUNC('day', "public"."trips"."sailed"), DATE_TRUNC('day', "public"."trips"."booked_at"))) * 12) + extract(month from AGE(DATE_TRUNC('day', "public"."trips"."sailed"), DATE_TRUNC('day', "public"."trips"."booked_at")))) AS integer)) AS "avg" FROM "public"."trips"
--= answered
SELECT CASE WHEN "public"."trips"."fare" >= 100 THEN 'dear' WHEN "public"."trips"."fare" >= 20 THEN 'fair' ELSE 'cheap' END AS "Price class", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CASE WHEN "public"."trips"."fare" >= 100 THEN 'dear' WHEN "public"."trips"."fare" >= 20 THEN 'fair' ELSE 'cheap' END ORDER BY "count" DESC, CASE WHEN "public"."trips"."fare" >= 100 THEN 'dear' WHEN "public"."trips"."fare" >= 20 THEN 'fair' ELSE 'cheap' END ASC
--= answered
SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", SUM("public"."trips"."fare") AS "sum", LAG(SUM("public"."trips"."fare"), 1) OVER (ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC) AS "previous", (CAST(SUM("public"."trips"."fare") AS DOUBLE PRECISION) / NULLIF(CAST(LAG(SUM("public"."trips"."fare"), 1) OVER (ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC) AS DOUBLE PRECISION), 0.0)) - 1 AS "growth" FROM "public"."trips" GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC
--= answered
SELECT "public"."trips"."channel" AS "channel", CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", SUM(COUNT(*)) OVER (PARTITION BY "public"."trips"."channel" ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC ROWS UNBOUNDED PRECEDING) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."channel", CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ORDER BY "public"."trips"."channel" ASC, CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC
--= answered
SELECT "Passengers - Passenger"."home" AS "Passengers - Passenger__home", CAST(DATE_TRUNC('year', "Passengers - Passenger"."joined") AS date) AS "Passengers - Passenger__joined", COUNT(*) AS "count" FROM "public"."trips" LEFT JOIN "public"."passengers" AS "Passengers - Passenger" ON "public"."trips"."passenger" = "Passengers - Passenger"."passenger" GROUP BY "Passengers - Passenger"."home", CAST(DATE_TRUNC('year', "Passengers - Passenger"."joined") AS date) ORDER BY "Passengers - Passenger"."home" ASC, CAST(DATE_TRUNC('year', "Passengers - Passenger"."joined") AS date) ASC
--= answered
SELECT "Routes"."harbour" AS "Routes__harbour", FLOOR((("Routes"."km" - 0.0) / 50.0)) * 50.0 + 0.0 AS "Routes__km", COUNT(*) AS "count" FROM "public"."trips" LEFT JOIN "public"."routes" AS "Routes" ON "public"."trips"."route" = "Routes"."route" GROUP BY "Routes"."harbour", FLOOR((("Routes"."km" - 0.0) / 50.0)) * 50.0 + 0.0 ORDER BY "Routes"."harbour" ASC, FLOOR((("Routes"."km" - 0.0) / 50.0)) * 50.0 + 0.0 ASC
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" LEFT JOIN "public"."passengers" AS "Passengers" ON "public"."trips"."passenger" = "Passengers"."passenger" LEFT JOIN "public"."routes" AS "Routes" ON "public"."trips"."route" = "Routes"."route" WHERE ("Passengers"."home" = 'north') AND ("Routes"."harbour" = 'Inner Quay')
--= answered
SELECT "public"."trips"."route" AS "route", COUNT(distinct "public"."trips"."passenger") AS "count", SUM("public"."trips"."fare") AS "sum" FROM "public"."trips" GROUP BY "public"."trips"."route" HAVING COUNT(distinct "public"."trips"."passenger") > 10 ORDER BY "public"."trips"."route" ASC
--= answered
SELECT count(*) FROM trips WHERE 1 = 1 AND "public"."trips"."route" IN ('Cove Line', 'Birch Point') AND sailed >= date '2025-01-01'
--= answered
SELECT date_trunc('month', sailed) AS month, count(*) AS n FROM trips WHERE ("public"."trips"."sailed" >= CAST((NOW() + INTERVAL '-90 day') AS date) AND "public"."trips"."sailed" < CAST(NOW() AS date)) GROUP BY 1 ORDER BY 1
--= answered
SELECT REPLACE("public"."trips"."route", ' ', '-') AS "slug", COUNT(*) AS "count" FROM "public"."trips" GROUP BY REPLACE("public"."trips"."route", ' ', '-') ORDER BY REPLACE("public"."trips"."route", ' ', '-') ASC
--= answered
SELECT split_part("public"."trips"."route", ' ', 1) AS "first", COUNT(*) AS "count" FROM "public"."trips" GROUP BY split_part("public"."trips"."route", ' ', 1) ORDER BY split_part("public"."trips"."route", ' ', 1) ASC
--= answered
SELECT SUM("public"."trips"."fare" / NULLIF(CAST("public"."trips"."children" + 1 AS DOUBLE PRECISION), 0.0)) AS "sum" FROM "public"."trips"
--= answered
SELECT SUM(COALESCE("public"."trips"."delay_minutes", 0)) AS "sum", AVG(COALESCE("public"."trips"."delay_minutes", 0)) AS "avg" FROM "public"."trips"
--= answered
SELECT SUM(CASE WHEN ("public"."trips"."sailed" >= date '2025-01-01') AND ("public"."trips"."sailed" < date '2026-01-01') THEN "public"."trips"."fare" ELSE 0.0 END) AS "2025", SUM(CASE WHEN ("public"."trips"."sailed" >= date '2024-01-01') AND ("public"."trips"."sailed" < date '2025-01-01') THEN "public"."trips"."fare" ELSE 0.0 END) AS "2024" FROM "public"."trips"
--= answered
SELECT "public"."passengers"."home" AS "home", AVG(CASE WHEN "public"."passengers"."member" = TRUE THEN 1 ELSE 0.0 END) AS "share", STDDEV_POP("public"."passengers"."points") AS "stddev" FROM "public"."passengers" GROUP BY "public"."passengers"."home" ORDER BY "share" DESC, "public"."passengers"."home" ASC
--= answered
SELECT CAST("public"."trips"."luggage" AS TEXT) AS "luggage", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST("public"."trips"."luggage" AS TEXT) ORDER BY CAST("public"."trips"."luggage" AS TEXT) ASC
--= answered
SELECT DATE_TRUNC('month', timezone('UTC', "public"."trips"."booked_at")) AS "booked_at", COUNT(*) AS "count" FROM "public"."trips" GROUP BY DATE_TRUNC('month', timezone('UTC', "public"."trips"."booked_at")) ORDER BY DATE_TRUNC('month', timezone('UTC', "public"."trips"."booked_at")) ASC
--= answered
SELECT "source"."sailed" AS "sailed", AVG("source"."count") AS "avg" FROM (SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", "public"."trips"."route" AS "route", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date), "public"."trips"."route" ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC, "public"."trips"."route" ASC) AS "source" GROUP BY "source"."sailed" ORDER BY "source"."sailed" ASC
--= answered
SELECT SUM("public"."trips"."fare") AS "sum", COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."cancelled" = FALSE) AND (NOT (LOWER("public"."trips"."agent") LIKE '%sun%') OR ("public"."trips"."agent" IS NULL)) AND ("public"."trips"."deck" IN ('car', 'open'))
--= answered
SELECT SUM(CASE WHEN "public"."trips"."delay_minutes" > 15 THEN 1 ELSE 0.0 END) / NULLIF(CAST(SUM(CASE WHEN "public"."trips"."delay_minutes" IS NOT NULL THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION), 0.0) AS "late share" FROM "public"."trips"
--= refused: MAX is not supported: one person's row can decide it
SELECT "public"."trips"."route" AS "route", MAX("public"."trips"."fare") AS "max" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC
--= answered
SELECT "source"."passenger_count" AS "passenger_count", COUNT(*) AS "count" FROM (SELECT "public"."trips"."passenger" AS "passenger", COUNT(*) AS "passenger_count" FROM "public"."trips" GROUP BY "public"."trips"."passenger" ORDER BY "public"."trips"."passenger" ASC) AS "source" GROUP BY "source"."passenger_count" ORDER BY "source"."passenger_count" ASC
--= answered
SELECT AVG("source"."sum") AS "avg" FROM (SELECT "public"."trips"."passenger" AS "passenger", SUM("public"."trips"."fare") AS "sum" FROM "public"."trips" GROUP BY "public"."trips"."passenger" ORDER BY "public"."trips"."passenger" ASC) AS "source" WHERE "source"."sum" > 100
--= answered
SELECT "source"."sailed" AS "sailed", SUM("source"."count") AS "sum" FROM (SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date)) AS "source" WHERE ("source"."sailed" >= CAST((NOW() + INTERVAL '-12 month') AS date)) AND ("source"."sailed" < CAST(NOW() AS date)) GROUP BY "source"."sailed" ORDER BY "source"."sailed" ASC
--= answered
SELECT CAST(DATE_TRUNC('quarter', "source"."month") AS date) AS "month", AVG("source"."count") AS "avg" FROM (SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "month", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date)) AS "source" WHERE "source"."month" >= DATE_TRUNC('quarter', (NOW() + INTERVAL '-9 month')) GROUP BY CAST(DATE_TRUNC('quarter', "source"."month") AS date) ORDER BY CAST(DATE_TRUNC('quarter', "source"."month") AS date) ASC
--= answered
SELECT "source"."route" AS "route", "source"."count" AS "count", "Routes"."harbour" AS "Routes__harbour" FROM (SELECT "public"."trips"."route" AS "route", COUNT(*) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC) AS "source" LEFT JOIN "public"."routes" AS "Routes" ON "source"."route" = "Routes"."route" LIMIT 1048575
--= answered
SELECT "Routes"."harbour" AS "Routes__harbour", SUM("source"."count") AS "sum" FROM (SELECT "public"."trips"."route" AS "route", COUNT(*) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."route") AS "source" INNER JOIN "public"."routes" AS "Routes" ON "source"."route" = "Routes"."route" GROUP BY "Routes"."harbour" ORDER BY "Routes"."harbour" ASC
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."booked_at" >= timestamp with time zone '2025-03-01 00:00:00.000Z') AND ("public"."trips"."booked_at" < timestamp with time zone '2025-04-01 00:00:00.000Z')
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."booked_at" >= timestamp with time zone '2025-03-01 00:00:00.000+00:00')
--= answered
SELECT CAST(((DATE_PART('year', AGE(CAST("public"."trips"."sailed" AS date), CAST("public"."trips"."reserved" AS date))) * 12) + DATE_PART('month', AGE(CAST("public"."trips"."sailed" AS date), CAST("public"."trips"."reserved" AS date)))) AS integer) AS "months", COUNT(*) AS "count" FROM "public"."trips" GROUP BY 1 ORDER BY 1
--= answered
SELECT "source"."route" AS "route", "source"."count" AS "count", "Question 12 - Route"."sum" AS "Question 12 - Route__sum" FROM (SELECT "public"."trips"."route" AS "route", COUNT(*) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC) AS "source" LEFT JOIN (SELECT "public"."trips"."route" AS "route", SUM("public"."trips"."fare") AS "sum" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC) AS "Question 12 - Route" ON "source"."route" = "Question 12 - Route"."route" LIMIT 1048575
--= answered
SELECT CAST(DATE_TRUNC('month', "source"."sailed") AS date) AS "sailed", AVG("source"."count") AS "avg", STDDEV_POP("source"."count") AS "stddev" FROM (SELECT CAST("public"."trips"."sailed" AS date) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" WHERE "public"."trips"."sailed" >= date '2025-01-01' AND "public"."trips"."sailed" < date '2026-01-01' GROUP BY CAST("public"."trips"."sailed" AS date)) AS "source" GROUP BY CAST(DATE_TRUNC('month', "source"."sailed") AS date) ORDER BY CAST(DATE_TRUNC('month', "source"."sailed") AS date) ASC
--= answered
SELECT (("source"."sum" - "source"."prev") / NULLIF("source"."prev", 0)) AS "growth", "source"."m" AS "m" FROM (SELECT DATE_TRUNC('month', "public"."trips"."sailed") AS "m", SUM("public"."trips"."fare") AS "sum", LAG(SUM("public"."trips"."fare")) OVER (ORDER BY DATE_TRUNC('month', "public"."trips"."sailed")) AS "prev" FROM "public"."trips" GROUP BY 1) AS "source" ORDER BY "m"
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."sailed" >= CAST((NOW() + INTERVAL '-30 day') AS date)) AND ("public"."trips"."sailed" < CAST(NOW() AS date))
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."booked_at" >= DATE_TRUNC('month', (NOW() + INTERVAL '-1 month'))) AND ("public"."trips"."booked_at" < DATE_TRUNC('month', NOW()))
--= answered
SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", SUM("public"."trips"."fare") AS "sum" FROM "public"."trips" WHERE ("public"."trips"."sailed" >= CAST(DATE_TRUNC('month', (NOW() + INTERVAL '-12 month')) AS date)) AND ("public"."trips"."sailed" < CAST(DATE_TRUNC('month', (NOW() + INTERVAL '1 month')) AS date)) GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC
--= answered
SELECT DATE_TRUNC('day', timezone('Europe/Berlin', timezone('UTC', "public"."trips"."booked_at"))) AS "Berlin", COUNT(*) AS "count" FROM "public"."trips" WHERE "public"."trips"."booked_at" >= timestamp '2025-05-01 00:00:00' AND "public"."trips"."booked_at" < timestamp '2025-05-08 00:00:00' GROUP BY DATE_TRUNC('day', timezone('Europe/Berlin', timezone('UTC', "public"."trips"."booked_at"))) ORDER BY DATE_TRUNC('day', timezone('Europe/Berlin', timezone('UTC', "public"."trips"."booked_at"))) ASC
--= answered
SELECT AVG(CAST((extract(year from AGE(DATE_TRUNC('day', "public"."trips"."sailed"), DATE_TRUNC('day', "public"."trips"."reserved"))) * 12) + extract(month from AGE(DATE_TRUNC('day', "public"."trips"."sailed"), DATE_TRUNC('day', "public"."trips"."reserved"))) AS integer)) AS "avg" FROM "public"."trips"
--= answered
SELECT AVG(CAST(TRUNC((CAST("public"."trips"."sailed" AS date) - CAST("public"."trips"."reserved" AS date)) / 7) AS integer)) AS "avg" FROM "public"."trips"
--= answered
SELECT COUNT(distinct CASE WHEN ("public"."trips"."channel" = 'web') AND ("public"."trips"."cancelled" = FALSE) THEN "public"."trips"."passenger" END) AS "web people", COUNT(distinct "public"."trips"."passenger") AS "people" FROM "public"."trips"
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."agent" IS NOT NULL) AND ("public"."trips"."agent" <> '')
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."route" LIKE '%Line')
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE (LOWER("public"."trips"."agent") LIKE '%tours%')
--= refused: REGEXP_SUBSTR is computed only over known values, and those
SELECT SUBSTRING("public"."trips"."agent" FROM '^[A-Za-z]+') AS "first word", COUNT(*) AS "count" FROM "public"."trips" GROUP BY SUBSTRING("public"."trips"."agent" FROM '^[A-Za-z]+') ORDER BY SUBSTRING("public"."trips"."agent" FROM '^[A-Za-z]+') ASC
--= answered
SELECT SUBSTRING("public"."trips"."route" FROM '^[A-Za-z]+') AS "first word", COUNT(*) AS "count" FROM "public"."trips" GROUP BY SUBSTRING("public"."trips"."route" FROM '^[A-Za-z]+') ORDER BY SUBSTRING("public"."trips"."route" FROM '^[A-Za-z]+') ASC
--= answered
SELECT SPLIT_PART("public"."trips"."route", ' ', 1) AS "first", COUNT(*) AS "count" FROM "public"."trips" GROUP BY SPLIT_PART("public"."trips"."route", ' ', 1) ORDER BY SPLIT_PART("public"."trips"."route", ' ', 1) ASC
--= answered
SELECT CASE WHEN SPLIT_PART("public"."trips"."route", ' ', 2) = '' THEN NULL ELSE SPLIT_PART("public"."trips"."route", ' ', 2) END AS "second", AVG("public"."trips"."fare") AS "avg" FROM "public"."trips" GROUP BY CASE WHEN SPLIT_PART("public"."trips"."route", ' ', 2) = '' THEN NULL ELSE SPLIT_PART("public"."trips"."route", ' ', 2) END
--= answered
SELECT "public"."trips"."route" AS "route", "Question 12"."n" AS "n", COUNT(*) AS "count" FROM "public"."trips" LEFT JOIN (SELECT "public"."trips"."passenger" AS "passenger", COUNT(*) AS "n" FROM "public"."trips" GROUP BY "public"."trips"."passenger" ORDER BY "public"."trips"."passenger" ASC) AS "Question 12" ON "public"."trips"."passenger" = "Question 12"."passenger" GROUP BY "public"."trips"."route", "Question 12"."n" ORDER BY "public"."trips"."route" ASC, "Question 12"."n" ASC
--= answered
SELECT AVG(CAST("public"."trips"."luggage" AS BIGINT)) AS "avg", SUM(CAST("public"."trips"."children" AS DOUBLE PRECISION)) AS "sum" FROM "public"."trips"
--= answered
SELECT CAST("public"."trips"."luggage" AS TEXT) AS "bags", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST("public"."trips"."luggage" AS TEXT) ORDER BY CAST("public"."trips"."luggage" AS TEXT) ASC
--= answered
SELECT CASE WHEN "public"."trips"."sailed" = CAST(NOW() AS date) THEN 'today' WHEN "public"."trips"."sailed" < CAST(NOW() AS date) THEN 'past' ELSE 'future' END AS "when", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CASE WHEN "public"."trips"."sailed" = CAST(NOW() AS date) THEN 'today' WHEN "public"."trips"."sailed" < CAST(NOW() AS date) THEN 'past' ELSE 'future' END
--= answered
SELECT "source"."route" AS "route", "source"."channel" AS "channel", "source"."sum" AS "sum", "source"."sum" / NULLIF("source"."count", 0) AS "per trip" FROM (SELECT "public"."trips"."route" AS "route", "public"."trips"."channel" AS "channel", SUM("public"."trips"."fare") AS "sum", COUNT(*) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."route", "public"."trips"."channel" ORDER BY "public"."trips"."route" ASC, "public"."trips"."channel" ASC) AS "source" LIMIT 1048575
--= answered
SELECT "source"."sailed" AS "sailed", "source"."count" AS "count" FROM (SELECT CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) AS "sailed", COUNT(*) AS "count" FROM "public"."trips" GROUP BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ORDER BY CAST(DATE_TRUNC('month', "public"."trips"."sailed") AS date) ASC) AS "source" WHERE ("source"."sailed" >= DATE '2025-01-01') ORDER BY "source"."count" DESC LIMIT 5
--= answered
SELECT SQRT(AVG("public"."trips"."fare")) AS "root", EXP(AVG("public"."trips"."luggage")) AS "exp" FROM "public"."trips"
--= answered
SELECT ((FLOOR((("public"."trips"."fare" - -100.0) / 50.0)) * 50.0) + -100.0) AS "fare", "public"."trips"."deck" AS "deck", COUNT(*) AS "count" FROM "public"."trips" GROUP BY ((FLOOR((("public"."trips"."fare" - -100.0) / 50.0)) * 50.0) + -100.0), "public"."trips"."deck" ORDER BY ((FLOOR((("public"."trips"."fare" - -100.0) / 50.0)) * 50.0) + -100.0) ASC, "public"."trips"."deck" ASC
--= answered
SELECT COUNT(*) AS "count" FROM "public"."trips" WHERE extract(hour from "public"."trips"."booked_at") BETWEEN 8 AND 17 AND CAST(extract(isodow from "public"."trips"."booked_at") AS integer) <= 5
--= answered
SELECT "Passengers"."home" AS "Passengers__home", CAST(DATE_TRUNC('quarter', "public"."trips"."sailed") AS date) AS "sailed", COUNT(distinct "public"."trips"."passenger") AS "count" FROM "public"."trips" INNER JOIN "public"."passengers" AS "Passengers" ON "public"."trips"."passenger" = "Passengers"."passenger" WHERE ("Passengers"."home" = 'north') OR ("Passengers"."home" = 'south') GROUP BY "Passengers"."home", CAST(DATE_TRUNC('quarter', "public"."trips"."sailed") AS date) ORDER BY "Passengers"."home" ASC, CAST(DATE_TRUNC('quarter', "public"."trips"."sailed") AS date) ASC
--= answered
SELECT "public"."trips"."route" AS "route", SUM("public"."trips"."fare") AS "sum", SUM("public"."trips"."fare") - SUM(CASE WHEN "public"."trips"."cancelled" THEN "public"."trips"."fare" ELSE 0.0 END) AS "net" FROM "public"."trips" GROUP BY "public"."trips"."route" HAVING SUM("public"."trips"."fare") > 100 ORDER BY "public"."trips"."route" ASC
--= refused: MIN is not supported: one person's row can decide it
SELECT MIN("public"."trips"."sailed") AS "min", MAX("public"."trips"."sailed") AS "max" FROM "public"."trips"
--= answered
SELECT COUNT(*) AS "count" FROM (SELECT "public"."trips"."route" AS "route" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC) AS "source"
--= answered
SELECT "public"."passengers"."home" AS "home", CAST(SUM(CASE WHEN "public"."passengers"."member" = TRUE THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(CAST(COUNT(*) AS DOUBLE PRECISION), 0.0) AS "members" FROM "public"."passengers" WHERE ("public"."passengers"."joined" IS NOT NULL) GROUP BY "public"."passengers"."home" ORDER BY "members" DESC, "public"."passengers"."home" ASC
--= answered
SELECT TO_CHAR("public"."trips"."sailed", 'FMMonth') AS "month", COUNT(*) AS "count" FROM "public"."trips" GROUP BY TO_CHAR("public"."trips"."sailed", 'FMMonth')
--= answered
SELECT "public"."trips"."route" AS "route", SUM(COUNT(*)) OVER (ORDER BY "public"."trips"."route" ASC ROWS UNBOUNDED PRECEDING) AS "count" FROM "public"."trips" GROUP BY "public"."trips"."route" ORDER BY "public"."trips"."route" ASC
--= answered
SELECT COUNT(*) AS "count", SQRT(AVG("public"."trips"."fare")) AS "root", LOG(10, SUM("public"."trips"."fare")) AS "log", POWER(AVG("public"."trips"."fare"), 2.0) AS "square", EXP(AVG("public"."trips"."luggage")) AS "e", ABS(SUM("public"."trips"."fare")) AS "abs", CEIL(AVG("public"."trips"."fare")) AS "c", FLOOR(AVG("public"."trips"."fare")) AS "f" FROM "public"."trips"
--= answered
SELECT 1 AS "a" FROM "public"."trips" WHERE 1 <> 1 LIMIT 0
--= answered
SELECT TRUE AS "_" FROM "public"."trips" WHERE 1 <> 1 LIMIT 0
--= answered
SELECT DATE_TRUNC('hour', "public"."trips"."booked_at") AS "booked_at", COUNT(*) AS "count" FROM "public"."trips" WHERE ("public"."trips"."booked_at" >= timestamp with time zone '2025-05-01 00:00:00.000Z') AND ("public"."trips"."booked_at" < timestamp with time zone '2025-05-03 00:00:00.000Z') GROUP BY DATE_TRUNC('hour', "public"."trips"."booked_at") ORDER BY DATE_TRUNC('hour', "public"."trips"."booked_at") ASC

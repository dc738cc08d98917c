-- Questions in the forms that Tableau, Looker, Power BI, Django and SQLAlchemy send to PostgreSQL.
-- policy: ferry
-- floor: 95

--= answered
SELECT "trips"."route" AS "route", SUM("trips"."fare") AS "sum:fare:ok" FROM "public"."trips" "trips" GROUP BY 1
--= answered
SELECT SUM(1) AS "cnt:trips:ok", "trips"."channel" AS "channel" FROM "public"."trips" "trips" GROUP BY 2 HAVING (COUNT(1) > 0)
--= answered
SELECT CAST(TRUNC(EXTRACT(YEAR FROM "trips"."sailed")) AS INTEGER) AS "yr:sailed:ok", AVG(CAST("trips"."fare" AS DOUBLE PRECISION)) AS "avg:fare:ok" FROM "public"."trips" "trips" GROUP BY 1
--= answered
SELECT DATE_TRUNC( 'MONTH', CAST("trips"."sailed" AS DATE) ) AS "tmn:sailed:ok", SUM("trips"."fare") AS "sum:fare:ok" FROM "public"."trips" "trips" WHERE (("trips"."sailed" >= (DATE '2025-01-01')) AND ("trips"."sailed" <= (DATE '2025-12-31'))) GROUP BY 1
--= answered
SELECT COUNT(DISTINCT "trips"."passenger") AS "ctd:passenger:ok" FROM "public"."trips" "trips" WHERE ("trips"."route" IN ('Cove Line', 'Birch Point')) HAVING (COUNT(1) > 0)
--= answered
SELECT (DATE(trips.booked_at )) AS "trips.booked_date", COUNT(*) AS "trips.count", COALESCE(SUM(trips.fare ), 0) AS "trips.total_fare" FROM public.trips AS trips WHERE ((( trips.booked_at ) >= ((SELECT (DATE_TRUNC('day', CURRENT_TIMESTAMP) + (-29 || ' day')::INTERVAL))) AND ( trips.booked_at ) < ((SELECT ((DATE_TRUNC('day', CURRENT_TIMESTAMP) + (-29 || ' day')::INTERVAL) + (30 || ' day')::INTERVAL))))) GROUP BY (DATE(trips.booked_at )) ORDER BY 1 DESC FETCH NEXT 500 ROWS ONLY
--= answered
SELECT (TO_CHAR(DATE_TRUNC('month', trips.booked_at ), 'YYYY-MM')) AS "trips.booked_month", COUNT(DISTINCT CASE WHEN trips.cancelled THEN trips.passenger ELSE NULL END) AS "trips.cancelling" FROM public.trips AS trips GROUP BY (DATE_TRUNC('month', trips.booked_at )) ORDER BY 1 DESC FETCH NEXT 500 ROWS ONLY
--= answered
SELECT CASE WHEN trips.cancelled THEN 'Yes' ELSE 'No' END AS "trips.cancelled", AVG(trips.fare ) AS "trips.average" FROM public.trips AS trips LEFT JOIN public.passengers AS passengers ON trips.passenger = passengers.passenger WHERE (passengers.member ) AND (trips.route ) LIKE 'C%' GROUP BY 1 ORDER BY 2 DESC LIMIT 500
--= answered
select "_"."route", count(1) as "C1" from ( select "$Table"."route" as "route", "$Table"."fare" as "fare" from "public"."trips" "$Table" ) "_" where "_"."fare" > 10 group by "_"."route" limit 1000001
--= answered
select "rows"."channel" as "channel", sum("rows"."fare") as "a0" from ( select "channel", "fare" from "public"."trips" "$Table" where "route" = 'Cove Line' ) "rows" group by "channel" limit 1000001
--= refused: MAX is not supported: one person's row can decide it
select sum(cast("t0"."fare" as decimal)) as "a0", count(distinct("t0"."passenger")) + max(case when "t0"."passenger" is null then 1 else 0 end) as "a1" from "public"."trips" "t0"
--= answered
SELECT count(1) FROM trips
--= answered
SELECT route, count(*) FROM "ferry"."public"."trips" GROUP BY route
--= answered
SELECT count(*) AS "__count" FROM "trips" WHERE "trips"."cancelled"
--= answered
SELECT "trips"."route", COUNT("trips"."passenger") AS "n" FROM "trips" WHERE NOT ("trips"."deck" = 'car' AND "trips"."deck" IS NOT NULL) GROUP BY "trips"."route" ORDER BY "n" DESC LIMIT 21
--= answered
SELECT AVG("trips"."fare") AS "fare__avg" FROM "trips" INNER JOIN "passengers" ON ("trips"."passenger" = "passengers"."passenger") WHERE "passengers"."sex" = 'f'
--= answered
SELECT EXTRACT(YEAR FROM "trips"."sailed" AT TIME ZONE 'UTC') AS "y", COUNT(*) FROM "trips" GROUP BY 1
--= answered
SELECT anon_1.route, anon_1.n FROM (SELECT trips.route AS route, count(*) AS n FROM trips GROUP BY trips.route) AS anon_1 WHERE anon_1.n > 10
--= answered
select "_"."route", "_"."a0" from ( select "rows"."route" as "route", count(1) as "a0" from ( select "route", "fare" from "public"."trips" ) "rows" group by "route" ) "_" where not "_"."a0" is null limit 1000001
--= answered
SELECT ((("trips"."fare" > 50))) AS "dear", COUNT(*) AS "n" FROM (SELECT "t0"."fare", "t0"."route" FROM "trips" AS "t0" WHERE "t0"."fare" > CAST(10 AS SMALLINT)) AS "trips" GROUP BY 1
--= answered
SELECT "trips".route "trips__route", date_trunc('day', ("trips".booked_at::timestamptz AT TIME ZONE 'UTC')) "trips__booked_day", count("trips".passenger) "trips__count" FROM public.trips AS "trips" WHERE ("trips".booked_at >= '2025-01-01T00:00:00.000Z'::timestamptz AND "trips".booked_at <= '2025-01-31T23:59:59.999Z'::timestamptz) GROUP BY 1, 2 ORDER BY 2 ASC LIMIT 10000

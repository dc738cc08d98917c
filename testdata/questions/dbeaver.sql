-- Questions in the forms that DBeaver sends to PostgreSQL: row counts, its grouping panel, filters on results, scripts.
-- policy: ferry
-- floor: 95

--= answered
SELECT COUNT(*) FROM public.trips
--= answered
SELECT count(*) FROM public.passengers p
--= answered
SELECT COUNT(*) FROM (SELECT t.* FROM public.trips t
) dbvrcnt
--= answered
SELECT COUNT(*) FROM (select * from trips where fare > 50
) dbvrcnt
--= answered
SELECT COUNT(*) FROM (SELECT route, COUNT(*) FROM public.trips GROUP BY route
) dbvrcnt
--= answered
SELECT route, COUNT(*) FROM public.trips
GROUP BY route
--= answered
SELECT "route", COUNT(*) as count_ FROM (
select * from trips
) src
GROUP BY "route"
--= answered
SELECT "route", "channel", COUNT(*) as count_ FROM (
select * from public.trips where not cancelled
) src
GROUP BY "route", "channel"
ORDER BY count_ DESC
--= answered
SELECT "home", COUNT(*) as count_, AVG("points") as avgpoints_ FROM (
select * from passengers
) src
GROUP BY "home"
--= answered
SELECT "deck", SUM("fare") as sumfare_ FROM (
select deck, fare from public.trips
) src
GROUP BY "deck"
ORDER BY 2 DESC
--= answered
SELECT "channel", COUNT(*) as count_ FROM (
select * from trips
) src
GROUP BY "channel"
HAVING COUNT(*) > 1
--= answered
SELECT channel, COUNT(*) FROM public.trips GROUP BY channel HAVING COUNT(*) > 1
--= answered
SELECT * FROM (
select route, count(*) as n from trips group by route
) z_q
ORDER BY n DESC
--= answered
SELECT * FROM (
select route, sum(fare) as revenue from public.trips group by route
) z_q
WHERE revenue > 1000
--= answered
SELECT * FROM (
select route, channel, count(*) n from trips group by 1, 2
) z_q
WHERE route='Cove Line'
ORDER BY n DESC
--= answered
SELECT "route", COUNT(*) FROM public.trips WHERE "route" IS NOT NULL GROUP BY "route" ORDER BY "route" LIMIT 200
--= answered
SELECT DISTINCT "channel" FROM public.trips ORDER BY "channel" LIMIT 200
--= answered
SELECT DISTINCT "home" FROM public.passengers WHERE "home" IS NOT NULL ORDER BY "home"
--= answered
select count(*) from trips;
--= answered
select route, count(*) from trips group by route order by route;
--= answered
select route, round(avg(fare)::numeric, 2) as mean from trips group by route;
--= answered
select t.route, sum(t.fare) total from public.trips t where t.cancelled = false group by t.route order by total desc;
--= answered
select count(distinct t.passenger) from public.trips t;
--= answered
SELECT p.home, count(*) FROM public.trips t INNER JOIN public.passengers p ON t.passenger = p.passenger GROUP BY p.home;
--= answered
SELECT r.harbour, avg(t.delay_minutes) FROM public.trips t JOIN public.routes r ON r.route = t.route GROUP BY r.harbour;
--= answered
SELECT count(*) FROM ferry.public.trips;
--= answered
SELECT trips.route, count(*) FROM public.trips GROUP BY trips.route;
--= answered
SELECT public.trips.route, count(*) FROM public.trips GROUP BY public.trips.route;
--= answered
SELECT "public"."trips"."route", avg("public"."trips"."fare") FROM "ferry"."public"."trips" GROUP BY "public"."trips"."route";
--= answered
select date_trunc('month', sailed)::date as month, count(*) from trips group by 1 order by 1;
--= answered
select extract(year from sailed) as year, sum(fare) from trips group by extract(year from sailed) order by year;
--= answered
select to_char(sailed, 'YYYY-MM') as month, count(*) from trips group by 1 order by 1;
--= answered
select count(*) from trips where sailed = '2025-05-01';
--= answered
select count(*) from trips where sailed >= '2025-05-01'::date and sailed < '2025-06-01'::date;
--= answered
select count(*) from trips where booked_at >= '2025-05-01 00:00:00' and booked_at < '2025-06-01 00:00:00';
--= answered
select count(*) from trips where sailed > current_date - 30;
--= answered
select count(*) from trips where agent is not null;
--= answered
select count(*) from trips where agent ilike '%tours%';
--= answered
select agent, count(*) from trips group by agent order by 2 desc limit 20;
--= answered
select avg(fare), stddev(fare), percentile_cont(0.5) within group (order by fare) from trips;
--= answered
select channel, count(*) filter (where cancelled) * 1.0 / count(*) as rate from trips group by channel;
--= answered
select case when children > 0 then 'family' else 'adults' end as party, count(*) from trips group by 1;
--= answered
select case when children > 0 then 'family' else 'adults' end as party, count(*) from trips group by case when children > 0 then 'family' else 'adults' end;
--= answered
with t as (select * from public.trips where channel = 'web') select route, count(*) from t group by route;
--= answered
with m as (select passenger, count(*) as n from trips group by passenger) select avg(n) from m;
--= answered
select n, count(*) from (select passenger, count(*) as n from trips group by passenger) x group by n order by n;
--= answered
select route, count(*), rank() over (order by count(*) desc) from trips group by route;
--= answered
select count(*) from trips where passenger in (select passenger from passengers where member);
--= answered
select count(*) from trips where route in (select route from routes where km > 50);
--= answered
select count(*) from passengers p where exists (select 1 from trips t where t.passenger = p.passenger and t.cancelled);
--= answered
select route, channel, count(*) from trips group by rollup (route, channel);
--= answered
select count(*) as "No. of trips" from trips as "Trips" where "Trips".fare between 10 and 20;
--= answered
SELECT 1
--= refused: * is not answered: single rows are never returned
SELECT t.* FROM public.trips t LIMIT 200
--= answered
SELECT COUNT(*) FROM public.trips t WHERE t.route = 'Cove Line'
--= answered
SELECT COUNT(*) FROM (
select route, channel, sum(fare) from trips group by route, channel having sum(fare) > 10
) dbvrcnt
--= answered
SELECT COUNT(*) FROM (
with w as (select * from trips where not cancelled) select route, count(*) from w group by route
) dbvrcnt
--= answered
SELECT COUNT(*) FROM (SELECT t.* FROM public.trips t WHERE fare > 20 AND route='Cove Line'
) dbvrcnt
--= answered
SELECT "sailed", COUNT(*) as count_ FROM (
select * from public.trips where sailed >= '2025-01-01' and sailed < '2025-02-01'
) src
GROUP BY "sailed"
ORDER BY "sailed"
--= answered
SELECT "luggage", "cancelled", COUNT(*) as count_, SUM("fare") as sumfare_, AVG("fare") as avgfare_ FROM (
SELECT t.* FROM public.trips t
) src
GROUP BY "luggage", "cancelled"
--= answered
SELECT "route", COUNT("agent") as countagent_ FROM (
select * from public.trips
) src
GROUP BY "route"
ORDER BY countagent_ DESC
--= answered
SELECT "route", COUNT(DISTINCT "passenger") as countpassenger_ FROM (
select * from public.trips t where t.fare between 10 and 100
) src
GROUP BY "route"
--= answered
SELECT "sex", "home", COUNT(*) as count_ FROM (
SELECT * FROM public.passengers
) src
GROUP BY "sex", "home"
HAVING COUNT(*) > 1
--= refused: MAX is not supported: one person's row can decide it
SELECT "route", MAX("fare") as maxfare_ FROM (
select * from public.trips
) src
GROUP BY "route"
--= answered
SELECT * FROM (
select route, channel, avg(fare) as mean from public.trips group by route, channel
) z_q
WHERE channel = 'web' AND mean > 10
ORDER BY mean DESC
--= answered
SELECT * FROM (
select date_trunc('month', sailed) as month, count(*) as n from trips group by 1
) z_q
WHERE month >= '2025-01-01 00:00:00'
ORDER BY month
--= answered
SELECT * FROM (
select route, count(*) as n from trips group by route order by n desc
) z_q
WHERE route LIKE 'C%'
--= answered
SELECT * FROM (
select route, count(*) as n from trips group by route
) z_q
WHERE n IN (1,2,3)
--= answered
SELECT "deck", COUNT(*) FROM public.trips WHERE "deck" ILIKE '%a%' GROUP BY "deck" ORDER BY "deck" LIMIT 200
--= answered
SELECT "route", COUNT(*) FROM public.trips GROUP BY "route" ORDER BY 2 DESC, 1 LIMIT 100
--= answered
SELECT DISTINCT "deck" FROM public.trips WHERE CAST("deck" as text) ILIKE '%o%' ORDER BY "deck" LIMIT 200
--= answered
SELECT "route" FROM public.trips GROUP BY "route" ORDER BY 1
--= answered
SELECT route,harbour FROM public.routes ORDER BY route
--= answered
SELECT count(*) AS cnt, sum(fare) AS total, avg(fare) AS mean FROM public.trips
--= answered
SELECT COUNT(fare), SUM(fare), AVG(fare) FROM (select fare from trips where route = 'Cove Line') q
--= answered
SELECT COUNT(*), COUNT(DISTINCT route), COUNT(deck) FROM public.trips
--= answered
SELECT
	t.route,
	count(*) AS trips,
	sum(t.fare) AS revenue,
	sum(t.fare) / count(*) AS per_trip
FROM
	public.trips t
WHERE
	t.sailed >= '2025-01-01'
	AND t.sailed < '2026-01-01'
GROUP BY
	t.route
ORDER BY
	revenue DESC;
--= answered
select extract(isodow from t.sailed) as dow, t.route, count(*) from public.trips t group by dow, t.route order by dow, t.route;
--= answered
-- busy days
select t.sailed, count(*) as n /* trips */ from public.trips t where t.sailed between '2025-07-01' and '2025-07-31' group by t.sailed having count(*) > 5 order by n desc limit 10;
--= answered
select count(*) from public.trips where booked_at::date = '2025-05-01';
--= answered
select count(*) from public.trips where booked_at >= now() - interval '3 months';
--= answered
select date_part('year', age(current_date, p.joined)) as years, count(*) from public.passengers p group by 1 order by 1;
--= answered
select p.member, avg(t.fare) from public.trips t left join public.passengers p using (passenger) group by p.member;
--= answered
select p.home, r.harbour, sum(t.fare)::numeric(12,2) as revenue from public.trips t join public.passengers p on p.passenger = t.passenger join public.routes r on r.route = t.route where t.cancelled is false group by p.home, r.harbour order by 1, 2;
--= answered
select count(*) from public.trips t where exists (select 1 from public.routes r where r.route = t.route and r.harbour = 'Outer Pier');
--= answered
select count(*) from passengers p where (select count(*) from trips t where t.passenger = p.passenger) > 2;
--= answered
select route, channel, count(*), sum(count(*)) over (partition by route) as per_route from trips group by route, channel;
--= answered
select * from (select route, count(*) as n, row_number() over (order by count(*) desc) as rn from trips group by route) q where rn <= 2;
--= answered
select concat(route, '/', deck) as k, count(*) from trips where deck is not null group by 1;
--= answered
select coalesce(t.agent, 'none') as agent, count(*) from public.trips t group by 1 order by 2 desc limit 10;
--= answered
select passenger % 10 as bucket, count(*) from trips group by 1;
--= answered
select trunc(fare::numeric, -1) as band, count(*) from trips group by 1 order by 1;
--= answered
select to_char(booked_at, 'YYYY-"W"IW') as week, count(*) from trips where booked_at >= '2025-01-01' group by 1 order by 1;
--= answered
select channel, (count(*) filter (where cancelled))::float8 / nullif(count(*), 0)::float8 as rate from public.trips group by channel order by rate desc nulls last fetch first 5 rows only;
--= answered
select variance(fare), stddev_pop(fare), corr(fare, luggage), regr_slope(fare, luggage) from public.trips;
--= answered
select percentile_disc(0.5) within group (order by sailed) from trips;
--= refused: column "route" stands outside any aggregate
SELECT t.route, t.fare FROM public.trips t ORDER BY t.fare DESC LIMIT 200
--= answered
select version()
--= answered
select current_database(), current_schema()
--= answered
SELECT current_schema(), session_user
--= answered
select current_database() as db, current_user as "user"
--= answered
SELECT pg_catalog.version()
--= answered
SELECT version(), 1 AS ok
--= answered
SELECT DISTINCT route,count(*) FROM public.trips GROUP BY route ORDER BY count(*) DESC LIMIT 200
--= answered
select * from routes
--= answered
select count(*) from routes
--= answered
SELECT COUNT(*) FROM (select * from trips limit 200
) dbvrcnt
--= answered
SELECT * FROM public.trips LIMIT 0
--= answered
SELECT * FROM public.trips WHERE 1=0
--= answered
SELECT DISTINCT channel FROM (SELECT t.* FROM public.trips t) dbvrdistinct ORDER BY 1
--= answered
SELECT count(*) FROM trips WHERE trim(agent) = ''

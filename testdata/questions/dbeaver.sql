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

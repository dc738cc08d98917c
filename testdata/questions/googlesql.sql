-- Questions with GoogleSQL's differential-privacy clause, in the forms of its reference and of its libraries' examples.
-- policy: ferry
-- floor: 90

--= answered
SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1.0, delta=1e-8, max_groups_contributed=2, privacy_unit_column=passenger) route, SUM(fare, contribution_bounds_per_group => (0, 200)) FROM trips GROUP BY route
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, max_groups_contributed=1) route, AVG(fare) FROM trips GROUP BY route
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, max_groups_contributed=2) route, AVG(fare, contribution_bounds_per_group => (0, 200)) FROM trips GROUP BY route
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, max_groups_contributed=NULL) route, COUNT(*) FROM trips GROUP BY route
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1/2) COUNT(*) FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, max_groups_contributed=1+1) route, COUNT(*) FROM trips GROUP BY route
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.1, max_rows_contributed=5) COUNT(*) AS n FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2, max_rows_contributed=5) COUNT(*, contribution_bounds_per_group => (0, 3)) AS n FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2, max_groups_contributed=3) channel, COUNT(*, contribution_bounds_per_group => (0, 3)) AS n FROM trips GROUP BY channel
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2, max_groups_contributed=3) channel, COUNT(DISTINCT passenger) AS n FROM trips GROUP BY channel
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-8, max_groups_contributed=2) agent, COUNT(*) AS n FROM trips GROUP BY agent
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-8, min_privacy_units_per_group=20) agent, COUNT(*) AS n FROM trips GROUP BY agent
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-8, group_selection_strategy=LAPLACE_THRESHOLD) agent, COUNT(*) AS n FROM trips GROUP BY agent
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, group_selection_strategy=PUBLIC_GROUPS) routes.route, COUNT(trips.passenger) AS n FROM trips RIGHT OUTER JOIN (SELECT DISTINCT route FROM routes) AS routes ON trips.route = routes.route GROUP BY routes.route
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) VAR_POP(fare, contribution_bounds_per_row => (0, 200)) FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) STDDEV_POP(fare, contribution_bounds_per_row => (0, 200)) FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) PERCENTILE_CONT(fare, 0.5, contribution_bounds_per_row => (0, 200)) FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) APPROX_QUANTILES(fare, 4, contribution_bounds_per_row => (0, 200)) FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*, epsilon => 0.25), SUM(fare, contribution_bounds_per_group => (0, 100), epsilon => 0.75) FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) APPROX_COUNT_DISTINCT(route) FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) home, COUNT(*) AS n FROM passengers WHERE member GROUP BY home HAVING n > 10
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) p.home, SUM(t.fare) FROM trips t JOIN passengers p ON t.passenger = p.passenger GROUP BY p.home
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) AVG(n) FROM (SELECT passenger, COUNT(*) AS n FROM trips GROUP BY passenger)
--= answered
SELECT route, n FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) route, COUNT(*) AS n FROM trips GROUP BY route) WHERE n > 100
--= answered
WITH noisy AS (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) route, COUNT(*) AS n FROM trips GROUP BY route) SELECT SUM(n) FROM noisy
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNTIF(cancelled) FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) SUM(IF(cancelled, 1, 0), contribution_bounds_per_group => (0, 5)) FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.3) EXTRACT(YEAR FROM sailed) AS year, COUNT(*) FROM trips GROUP BY year
--= answered
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1, delta=1e-8, kappa=2) route, ANON_COUNT(*) FROM trips GROUP BY route
--= refused: report_format is not supported: an aggregate returns one
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*, report_format => "JSON") FROM trips
--= refused: the unit of table "trips" is "passenger", as its owner
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, privacy_unit_column=route) COUNT(*) FROM trips
--= refused: an epsilon above 1000 is not supported: the answer would
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1e20) COUNT(*) FROM trips
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) route, COUNTIF(delay_minutes > 30, contribution_bounds_per_group => (0, 3)) AS late, COUNT(*) AS n FROM trips GROUP BY route HAVING late > 20 ORDER BY late DESC
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_groups_contributed=2) IF(fare > 100, 'dear', 'cheap') AS price, COUNT(*) AS n FROM trips GROUP BY price
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) route, COUNTIF(cancelled) / COUNT(*) AS share FROM trips GROUP BY 1 HAVING share > 0.01
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) route, SAFE_DIVIDE(SUM(fare), COUNT(*)) AS mean, AVG(CAST(luggage AS FLOAT64)) AS bags FROM trips GROUP BY route
--= answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) EXTRACT(DAYOFWEEK FROM sailed) AS k, SUM(CAST(fare AS INT64), contribution_bounds_per_group => (0, 400)) AS total FROM `ferry.trips` GROUP BY k

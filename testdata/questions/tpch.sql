-- The 17 questions of TPC-H's kind that aggregate, in their forms, on freight. Their numbers in TPC-H stand before them.
-- policy: freight
-- floor: 80

--= answered
-- 1: a summary of sent parcels
SELECT returned, state, SUM(pieces) AS sum_pieces, SUM(price) AS sum_price, SUM(price * (1 - rebate)) AS sum_net,
  SUM(price * (1 - rebate) * (1 + duty)) AS sum_charge, AVG(pieces) AS avg_pieces, AVG(price) AS avg_price,
  AVG(rebate) AS avg_rebate, COUNT(*) AS n
FROM parcels WHERE sent <= date '2024-12-01' - interval '90' day (3)
GROUP BY returned, state ORDER BY returned, state
--= refused: each group would hold one unit only, and its numbers would
-- 3: the worth of shipments that wait
SELECT p.shipment, SUM(price * (1 - rebate)) AS revenue, placed, rank
FROM clients c, shipments s, parcels p
WHERE trade = 'homes' AND c.client = s.client AND p.shipment = s.shipment AND placed < date '2021-03-15' AND sent > date '2021-03-15'
GROUP BY p.shipment, placed, rank ORDER BY revenue DESC, placed LIMIT 10
--= answered
-- 4: shipments with a late parcel, by urgency
SELECT urgency, COUNT(*) AS n FROM shipments s
WHERE placed >= date '2021-07-01' AND placed < date '2021-07-01' + interval '3' month
  AND EXISTS (SELECT * FROM parcels p WHERE p.shipment = s.shipment AND promised < arrived)
GROUP BY urgency ORDER BY urgency
--= answered
-- 5: revenue by port where the client and the carrier share it
SELECT n.name, SUM(price * (1 - rebate)) AS revenue
FROM clients c, shipments s, parcels p, carriers k, ports n, zones z
WHERE c.client = s.client AND p.shipment = s.shipment AND p.carrier = k.carrier AND c.port = k.port AND k.port = n.port
  AND n.zone = z.zone AND z.name = 'islands' AND placed >= date '2021-01-01' AND placed < date '2021-01-01' + interval '1' year
GROUP BY n.name ORDER BY revenue DESC
--= answered
-- 6: revenue that lower rebates would bring
SELECT SUM(price * rebate) AS revenue FROM parcels
WHERE sent >= date '2021-01-01' AND sent < date '2021-01-01' + interval '1' year
  AND rebate BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND pieces < 24
--= answered
-- 7: trade between two ports by year
SELECT from_port, to_port, year, SUM(volume) AS revenue FROM (
  SELECT a.name AS from_port, b.name AS to_port, EXTRACT(year FROM sent) AS year, price * (1 - rebate) AS volume
  FROM carriers k, parcels p, shipments s, clients c, ports a, ports b
  WHERE k.carrier = p.carrier AND s.shipment = p.shipment AND c.client = s.client AND k.port = a.port AND c.port = b.port
    AND ((a.name = 'Arden' AND b.name = 'Delft') OR (a.name = 'Delft' AND b.name = 'Arden'))
    AND sent BETWEEN date '2020-01-01' AND date '2021-12-31'
) AS shipping GROUP BY from_port, to_port, year ORDER BY from_port, to_port, year
--= answered
-- 8: a port's share of a market by year
SELECT year, SUM(CASE WHEN port = 'Brill' THEN volume ELSE 0 END) / SUM(volume) AS share FROM (
  SELECT EXTRACT(year FROM placed) AS year, price * (1 - rebate) AS volume, b.name AS port
  FROM goods g, carriers k, parcels p, shipments s, clients c, ports a, ports b, zones z
  WHERE g.good = p.good AND k.carrier = p.carrier AND p.shipment = s.shipment AND s.client = c.client AND c.port = a.port
    AND a.zone = z.zone AND z.name = 'mainland' AND k.port = b.port
    AND placed BETWEEN date '2020-01-01' AND date '2021-12-31' AND g.kind = 'plain brass'
) AS everything GROUP BY year ORDER BY year
--= answered
-- 9: profit by port and year
SELECT port, year, SUM(amount) AS profit FROM (
  SELECT n.name AS port, EXTRACT(year FROM placed) AS year, price * (1 - rebate) - o.cost * pieces AS amount
  FROM goods g, carriers k, parcels p, offers o, shipments s, ports n
  WHERE k.carrier = p.carrier AND o.carrier = p.carrier AND o.good = p.good AND g.good = p.good AND s.shipment = p.shipment
    AND k.port = n.port AND g.name LIKE '%green%'
) AS profit GROUP BY port, year ORDER BY port, year DESC
--= answered
-- 11: goods that are worth much in stock (public tables only)
SELECT o.good, SUM(o.cost * o.available) AS value FROM offers o, carriers k, ports n
WHERE o.carrier = k.carrier AND k.port = n.port AND n.name = 'Delft' GROUP BY o.good
HAVING SUM(o.cost * o.available) > (SELECT SUM(cost * available) * 0.0001 FROM offers) ORDER BY value DESC
--= answered
-- 12: urgency by way of transport
SELECT way, SUM(CASE WHEN urgency = '1 now' OR urgency = '2 soon' THEN 1 ELSE 0 END) AS high,
  SUM(CASE WHEN urgency <> '1 now' AND urgency <> '2 soon' THEN 1 ELSE 0 END) AS low
FROM shipments s, parcels p
WHERE s.shipment = p.shipment AND way IN ('mail', 'ship') AND arrived > promised AND sent < promised
  AND arrived >= date '2021-01-01' AND arrived < date '2021-01-01' + interval '1' year
GROUP BY way ORDER BY way
--= answered
-- 13: clients by their number of shipments
SELECT n, COUNT(*) AS clients FROM (
  SELECT c.client, COUNT(s.shipment) AS n FROM clients c
  LEFT OUTER JOIN shipments s ON c.client = s.client AND s.remark NOT LIKE '%special%wish%' GROUP BY c.client
) AS per_client GROUP BY n ORDER BY clients DESC, n DESC
--= answered
-- 14: the share of promoted goods
SELECT 100.00 * SUM(CASE WHEN kind LIKE 'promo%' THEN price * (1 - rebate) ELSE 0 END) / SUM(price * (1 - rebate)) AS promoted
FROM parcels p, goods g
WHERE p.good = g.good AND sent >= date '2021-09-01' AND sent < date '2021-09-01' + interval '1' month
--= answered
-- 16: carriers that can deliver a kind of good (public tables only)
SELECT brand, kind, size, COUNT(DISTINCT o.carrier) AS carriers FROM offers o, goods g
WHERE g.good = o.good AND brand <> 'No. 4' AND kind NOT LIKE 'promo%' AND size IN (5, 14, 20)
  AND o.carrier NOT IN (SELECT carrier FROM carriers WHERE remark LIKE '%late%')
GROUP BY brand, kind, size ORDER BY carriers DESC, brand, kind, size
--= refused: this subquery would pair different persons' rows: nothing
-- 17: yearly revenue of small orders of a good
SELECT SUM(price) / 7.0 AS yearly FROM parcels p, goods g
WHERE g.good = p.good AND brand = 'No. 3' AND box = 'crate'
  AND pieces < (SELECT 0.2 * AVG(pieces) FROM parcels q WHERE q.good = g.good)
--= answered
-- 19: discounted revenue, three cases
SELECT SUM(price * (1 - rebate)) AS revenue FROM parcels p, goods g
WHERE (g.good = p.good AND brand = 'No. 1' AND box IN ('bag', 'case') AND pieces >= 1 AND pieces <= 11 AND size BETWEEN 1 AND 5
    AND way IN ('air', 'mail') AND handling = 'deliver')
  OR (g.good = p.good AND brand = 'No. 2' AND box IN ('drum', 'crate') AND pieces >= 10 AND pieces <= 20 AND size BETWEEN 1 AND 10
    AND way IN ('air', 'mail') AND handling = 'deliver')
  OR (g.good = p.good AND brand = 'No. 3' AND box IN ('case', 'crate') AND pieces >= 20 AND pieces <= 30 AND size BETWEEN 1 AND 15
    AND way IN ('air', 'mail') AND handling = 'deliver')
--= answered
-- 21: late carriers, by name
SELECT k.name, COUNT(*) AS waits FROM carriers k, parcels p, shipments s, ports n
WHERE k.carrier = p.carrier AND s.shipment = p.shipment AND s.status = 'done' AND p.arrived > p.promised
  AND EXISTS (SELECT * FROM parcels q WHERE q.shipment = p.shipment AND q.carrier <> p.carrier)
  AND NOT EXISTS (SELECT * FROM parcels q WHERE q.shipment = p.shipment AND q.carrier <> p.carrier AND q.arrived > q.promised)
  AND k.port = n.port AND n.name = 'Elba'
GROUP BY k.name ORDER BY waits DESC, k.name LIMIT 100
--= refused: this subquery would pair different persons' rows: nothing
-- 22: clients with money and no shipments, by country code
SELECT code, COUNT(*) AS clients, SUM(balance) AS total FROM (
  SELECT SUBSTRING(phone FROM 1 FOR 2) AS code, balance FROM clients c
  WHERE SUBSTRING(phone FROM 1 FOR 2) IN ('13', '31', '23')
    AND balance > (SELECT AVG(balance) FROM clients WHERE balance > 0.00 AND SUBSTRING(phone FROM 1 FOR 2) IN ('13', '31', '23'))
    AND NOT EXISTS (SELECT * FROM shipments s WHERE s.client = c.client)
) AS waiting GROUP BY code ORDER BY code

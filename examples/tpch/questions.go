package main

// question is one of TPC-H's questions, in a form that can be answered. The field asked is the original form, if it is
// refused because its groups identify a person's own rows.
type question struct {
	name, sql, asked string
	// truth calls add for each column to which an item contributes, with the item's group.
	truth func(s star, i item, add func(group string, column int, x float64))
	ratio bool // the only column is 100 times the first sum divided by the second
}

// revenue returns the revenue of an item, in units of the currency.
func revenue(i item) float64 { return float64(i.price) / 100 * (1 - float64(i.discount)/100) }

var questions = []question{
	{
		name: "Q1, sums by flag and status",
		sql: `SELECT l_returnflag, l_linestatus, SUM(l_quantity), SUM(l_extendedprice), SUM(l_extendedprice * (1 - l_discount)), COUNT(*)
FROM lineitem WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus`,
		truth: func(_ star, i item, add func(string, int, float64)) {
			if i.shipDay > day("1998-09-02") {
				return
			}
			g := i.returned + " " + i.status
			add(g, 0, float64(i.quantity))
			add(g, 1, float64(i.price)/100)
			add(g, 2, revenue(i))
			add(g, 3, 1)
		},
	},
	{
		name: "Q3, revenue of unshipped orders, by quarter instead of by order",
		asked: `SELECT l_orderkey, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
WHERE c_mktsegment = 'BUILDING' AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY l_orderkey ORDER BY revenue DESC LIMIT 10`,
		sql: `SELECT EXTRACT(quarter FROM o_orderdate) AS quarter, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
WHERE c_mktsegment = 'BUILDING' AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY 1`,
		truth: func(_ star, i item, add func(string, int, float64)) {
			if segments[i.segment] == "BUILDING" && i.orderDay < day("1995-03-15") && i.shipDay > day("1995-03-15") {
				add(quarter(i.orderDay), 0, revenue(i))
			}
		},
	},
	{
		name: "Q5, revenue of local suppliers",
		sql: `SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01' GROUP BY n_name`,
		truth: func(s star, i item, add func(string, int, float64)) {
			if regions[regionOf[i.nation]] == "ASIA" && s.supplierNation(i.supplier) == i.nation &&
				i.orderDay >= day("1994-01-01") &&
				i.orderDay < day("1995-01-01") {
				add(nations[i.nation], 0, revenue(i))
			}
		},
	},
	{
		name: "Q6, revenue lost by discounts",
		sql: `SELECT SUM(l_extendedprice * l_discount) FROM lineitem
WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24`,
		truth: func(_ star, i item, add func(string, int, float64)) {
			if i.shipDay >= day("1994-01-01") && i.shipDay < day("1995-01-01") && i.discount >= 5 && i.discount <= 7 &&
				i.quantity < 24 {
				add("", 0, float64(i.price)/100*float64(i.discount)/100)
			}
		},
	},
	{
		name: "Q10, revenue lost by returns, by nation instead of by customer",
		asked: `SELECT c_custkey, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
WHERE l_returnflag = 'R' AND o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1994-01-01' GROUP BY c_custkey ORDER BY revenue DESC LIMIT 20`,
		sql: `SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer JOIN orders ON c_custkey = o_custkey
JOIN lineitem ON l_orderkey = o_orderkey JOIN nation ON c_nationkey = n_nationkey
WHERE l_returnflag = 'R' AND o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1994-01-01' GROUP BY n_name`,
		truth: func(_ star, i item, add func(string, int, float64)) {
			if i.returned == "R" && i.orderDay >= day("1993-10-01") && i.orderDay < day("1994-01-01") {
				add(nations[i.nation], 0, revenue(i))
			}
		},
	},
	{
		name: "Q12, late lines, by shipping mode",
		sql: `SELECT l_shipmode, SUM(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high, SUM(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 0 ELSE 1 END) AS low
FROM orders JOIN lineitem ON o_orderkey = l_orderkey WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1995-01-01' GROUP BY l_shipmode`,
		truth: func(_ star, i item, add func(string, int, float64)) {
			if m := modes[i.mode]; (m == "MAIL" || m == "SHIP") && i.commitDay < i.receipt && i.shipDay < i.commitDay &&
				i.receipt >= day("1994-01-01") &&
				i.receipt < day("1995-01-01") {
				column := 1
				if i.priority < 2 {
					column = 0
				}
				add(m, column, 1)
			}
		},
	},
	{
		name: "Q14, share of promotions, in percent",
		sql: `SELECT 100 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END) / SUM(l_extendedprice * (1 - l_discount)) AS share
FROM lineitem JOIN part ON l_partkey = p_partkey WHERE l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-10-01'`,
		ratio: true,
		truth: func(s star, i item, add func(string, int, float64)) {
			if i.shipDay >= day("1995-09-01") && i.shipDay < day("1995-10-01") {
				if s.promotion(i.part) {
					add("", 0, revenue(i))
				}
				add("", 1, revenue(i))
			}
		},
	},
	{
		name:  "Q18, large orders, their number instead of a list",
		asked: `SELECT o_custkey, l_orderkey, SUM(l_quantity) FROM orders JOIN lineitem ON o_orderkey = l_orderkey GROUP BY o_custkey, l_orderkey HAVING SUM(l_quantity) > 250`,
		sql: `WITH large AS (SELECT o_custkey, l_orderkey, SUM(l_quantity) AS quantity FROM orders JOIN lineitem ON o_orderkey = l_orderkey GROUP BY 1, 2 HAVING SUM(l_quantity) > 250)
SELECT COUNT(*) AS orders FROM large`,
	},
}

package plan_test

import (
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
)

// A star schema in the manner of TPC-H, whose unit is the customer.
const star = `
version: 1
population: {name: star}
budget: {epsilon: 10}
tables:
  customer: {source: {csv: c.csv}, unit: c_custkey, rows_per_unit: 1, columns: {c_custkey: {type: integer}, c_nationkey: {type: integer}, c_mktsegment: {type: text, values: [AUTOMOBILE, BUILDING, FURNITURE]}, c_acctbal: {type: real, bounds: [-1000, 10000]}}}
  orders: {source: {csv: o.csv}, unit: o_custkey, rows_per_unit: 20, references: {o_custkey: customer.c_custkey}, columns: {o_orderkey: {type: integer}, o_custkey: {type: integer}, o_orderdate: {type: date, bounds: [1992-01-01, 1998-12-31]}, o_orderpriority: {type: text, values: [1-URGENT, 2-HIGH, 3-MEDIUM]}, o_totalprice: {type: real, bounds: [0, 500000]}}}
  lineitem: {source: {csv: l.csv}, through: l_orderkey, rows_per_unit: 80, references: {l_orderkey: orders.o_orderkey}, columns: {l_orderkey: {type: integer}, l_partkey: {type: integer}, l_suppkey: {type: integer}, l_quantity: {type: real, bounds: [0, 50]}, l_extendedprice: {type: real, bounds: [0, 100000]}, l_discount: {type: real, bounds: [0, 0.1]}, l_tax: {type: real, bounds: [0, 0.08]}, l_returnflag: {type: text, values: [A, N, R]}, l_linestatus: {type: text, values: [O, F]}, l_shipdate: {type: date, bounds: [1992-01-01, 1998-12-31]}, l_commitdate: {type: date}, l_receiptdate: {type: date}, l_shipmode: {type: text, values: [MAIL, SHIP, AIR]}}}
  nation: {source: {csv: n.csv}, public: true, rows_per_value: {n_nationkey: 1}, columns: {n_nationkey: {type: integer}, n_name: {type: text, values: [CHINA, INDIA, PERU]}, n_regionkey: {type: integer}}}
  region: {source: {csv: r.csv}, public: true, rows_per_value: {r_regionkey: 1}, columns: {r_regionkey: {type: integer}, r_name: {type: text, values: [ASIA, AMERICA]}}}
  supplier: {source: {csv: s.csv}, public: true, rows_per_value: {s_suppkey: 1}, columns: {s_suppkey: {type: integer}, s_nationkey: {type: integer}}}
  part: {source: {csv: p.csv}, public: true, rows_per_value: {p_partkey: 1}, columns: {p_partkey: {type: integer}, p_type: {type: text}}}
`

// The shapes of TPC-H's questions 1, 3, 5, 6, 10, 12, 14 and 18, with known groups where theirs are unknown.
func TestStar(t *testing.T) {
	p, err := policy.Decode([]byte(star), ".")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		sql    string
		rows   int64 // of one customer
		tables int
	}{
		"Q1": {`SELECT l_returnflag, l_linestatus, SUM(l_quantity), SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)), AVG(l_discount), COUNT(*)
			FROM lineitem WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus ORDER BY 1, 2`, 80, 2},
		"Q3": {`SELECT date_trunc('month', o_orderdate) AS month, SUM(l_extendedprice * (1 - l_discount)) AS revenue
			FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
			WHERE c_mktsegment = 'BUILDING' AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY 1 ORDER BY revenue DESC LIMIT 10`, 80, 3},
		"Q5": {`SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
			FROM customer, orders, lineitem, supplier, nation, region
			WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01' GROUP BY n_name ORDER BY revenue DESC`, 80, 6},
		"Q6": {`SELECT SUM(l_extendedprice * l_discount) FROM lineitem
			WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24`, 80, 2},
		"Q10": {`SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
			JOIN nation ON c_nationkey = n_nationkey WHERE l_returnflag = 'R' GROUP BY n_name`, 80, 4},
		"Q12": {`SELECT l_shipmode, SUM(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high FROM orders JOIN lineitem ON o_orderkey = l_orderkey
			WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate GROUP BY l_shipmode`, 80, 2},
		"Q14": {`SELECT 100 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END) / SUM(l_extendedprice * (1 - l_discount))
			FROM lineitem JOIN part ON l_partkey = p_partkey WHERE l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-10-01'`, 80, 3},
		"Q8": {`SELECT o_year, SUM(CASE WHEN nation = 'INDIA' THEN volume ELSE 0 END) / SUM(volume) AS share FROM (
			SELECT EXTRACT(year FROM o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) AS volume, n2.n_name AS nation
			FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region
			WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey
			AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA' AND s_nationkey = n2.n_nationkey AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
			AND p_type = 'ECONOMY ANODIZED STEEL') AS all_nations GROUP BY o_year ORDER BY o_year`, 80, 7},
		"Q19": {`SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem, part
			WHERE (p_partkey = l_partkey AND p_type = 'a' AND l_quantity >= 1 AND l_quantity <= 11 AND l_shipmode IN ('AIR', 'MAIL'))
			OR (p_partkey = l_partkey AND p_type = 'b' AND l_quantity >= 10 AND l_quantity <= 20 AND l_shipmode IN ('AIR', 'MAIL'))
			OR (p_partkey = l_partkey AND p_type = 'c' AND l_quantity >= 20 AND l_quantity <= 30 AND l_shipmode IN ('AIR', 'MAIL'))`, 80, 3},
		"nested": {`SELECT n_name, COUNT(*) FROM (region JOIN nation ON r_regionkey = n_regionkey) JOIN (lineitem JOIN (customer JOIN orders ON c_custkey = o_custkey) ON l_orderkey = o_orderkey)
			ON c_nationkey = n_nationkey AND r_name = 'ASIA' GROUP BY n_name`, 80, 5},
		"Q18": {`WITH large AS (SELECT o_custkey, l_orderkey, SUM(l_quantity) AS quantity FROM lineitem JOIN orders ON l_orderkey = o_orderkey GROUP BY 1, 2 HAVING SUM(l_quantity) > 300)
			SELECT COUNT(*), AVG(quantity), AVG(o_totalprice) FROM large JOIN orders o ON o.o_custkey = large.o_custkey AND o.o_orderkey = large.l_orderkey`, 80, 2},
	} {
		q, err := plan.Build(p, plan.Request{SQL: c.sql})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if rows := q.Caps.Rows; rows != c.rows || len(q.Tables()) != c.tables {
			t.Errorf("%s: %d rows of a customer, of %v; want %d of %d", name, rows, q.Tables(), c.rows, c.tables)
		}
	}
}

package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"dither/internal/splitmix"
)

// The schema is TPC-H's, with the columns that its questions 1, 3, 5, 6, 10, 12, 14 and 18 need. The values
// approximately follow the distributions of its specification. All data are made up.

// item is a row of lineitem, joined with its order and customer.
type item struct {
	customer, nation, segment   int // nation is the customer's
	order, orderDay, priority   int
	part, supplier              int
	quantity, discount, tax     int // discount and tax in hundredths
	price                       int // in cents, for the whole quantity
	shipDay, commitDay, receipt int
	mode                        int
	returned, status            string
}

// star generates the tables of the schema at a scale factor, where 1 stands for 150,000 customers.
type star struct {
	scale float64
	seed  uint64
}

var (
	segments   = []string{"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"}
	priorities = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"}
	modes      = []string{"AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"}
	regions    = []string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}
	nations    = []string{
		"ALGERIA",
		"ARGENTINA",
		"BRAZIL",
		"CANADA",
		"EGYPT",
		"ETHIOPIA",
		"FRANCE",
		"GERMANY",
		"INDIA",
		"INDONESIA",
		"IRAN",
		"IRAQ",
		"JAPAN",
		"JORDAN",
		"KENYA",
		"MOROCCO",
		"MOZAMBIQUE",
		"PERU",
		"CHINA",
		"ROMANIA",
		"SAUDI ARABIA",
		"VIETNAM",
		"RUSSIA",
		"UNITED KINGDOM",
		"UNITED STATES",
	}
	regionOf = []int{0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1}
)

func day(text string) int {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err) // not reached: the text is a constant of this file
	}
	return int(t.Unix() / 86400)
}

var firstDay, lastDay, today = day("1992-01-01"), day("1998-08-02"), day("1995-06-17")

func dayText(n int) string { return time.Unix(int64(n)*86400, 0).UTC().Format(time.DateOnly) }

func (s star) customers() int { return max(1, int(150_000*s.scale)) }
func (s star) parts() int     { return max(1, int(200_000*s.scale)) }
func (s star) suppliers() int { return max(1, int(10_000*s.scale)) }

// stream returns the random draws for one row. They are a function of the seed, the kind of row and its number.
func (s star) stream(kind, n int) splitmix.Stream {
	return splitmix.At(splitmix.Mix(splitmix.Mix(s.seed+uint64(kind)*splitmix.Step) + uint64(n)))
}

func (s star) supplierNation(n int) int {
	r := s.stream(1, n)
	return r.Below(len(nations))
}

// promotion reports whether a part is a promotion, which holds for about a sixth of the parts.
func (s star) promotion(n int) bool {
	r := s.stream(2, n)
	return r.Below(6) == 0
}

// cents returns the price of a part, in cents.
func cents(part int) int { return 90_000 + (part/10)%20_001 + 100*(part%1_000) }

// customer draws a customer, and calls the function each for every item of the customer's orders. A third of the
// customers has no orders.
func (s star) customer(n int, each func(i item)) (nation, segment int) {
	r := s.stream(3, n)
	nation, segment = r.Below(len(nations)), r.Below(len(segments))
	if n%3 == 0 {
		return nation, segment
	}
	for o := range 1 + r.Below(29) {
		base := item{customer: n, nation: nation, segment: segment, order: n*32 + o, priority: r.Below(len(priorities))}
		base.orderDay = firstDay + r.Below(lastDay-firstDay-121)
		for range 1 + r.Below(7) {
			i := base
			i.part, i.supplier = 1+r.Below(s.parts()), 1+r.Below(s.suppliers())
			i.quantity, i.discount, i.tax, i.mode = 1+r.Below(50), r.Below(11), r.Below(9), r.Below(len(modes))
			i.price = i.quantity * cents(i.part)
			i.shipDay = i.orderDay + 1 + r.Below(121)
			i.commitDay, i.receipt = i.orderDay+30+r.Below(61), i.shipDay+1+r.Below(30)
			i.returned, i.status = "N", "O"
			if i.receipt <= today {
				i.returned = []string{"A", "R"}[r.Below(2)]
			}
			if i.shipDay <= today {
				i.status = "F"
			}
			each(i)
		}
	}
	return nation, segment
}

// write writes the source files of a home, and calls the function each for every item of an order.
func (s star) write(folder string, each func(item)) error {
	open := map[string]*bufio.Writer{}
	// Flush reports the error
	put := func(table, format string, args ...any) { _, _ = fmt.Fprintf(open[table], format+"\n", args...) }
	files := []*os.File{}
	for name, header := range map[string]string{
		"customer": "c_custkey,c_nationkey,c_mktsegment",
		"orders":   "o_orderkey,o_custkey,o_orderdate,o_orderpriority",
		"lineitem": "l_orderkey,l_partkey,l_suppkey,l_quantity,l_extendedprice,l_discount,l_tax,l_returnflag,l_linestatus,l_shipdate,l_commitdate,l_receiptdate,l_shipmode",
		"nation":   "n_nationkey,n_name,n_regionkey",
		"region":   "r_regionkey,r_name",
		"supplier": "s_suppkey,s_nationkey",
		"part":     "p_partkey,p_type",
	} {
		f, err := os.Create(filepath.Join(folder, name+".csv"))
		if err != nil {
			return err
		}
		files, open[name] = append(files, f), bufio.NewWriterSize(f, 1<<20)
		put(name, "%s", header)
	}
	for i, name := range regions {
		put("region", "%d,%s", i, name)
	}
	for i, name := range nations {
		put("nation", "%d,%s,%d", i, name, regionOf[i])
	}
	for n := 1; n <= s.suppliers(); n++ {
		put("supplier", "%d,%d", n, s.supplierNation(n))
	}
	for n := 1; n <= s.parts(); n++ {
		kind := "STANDARD"
		if s.promotion(n) {
			kind = "PROMO"
		}
		put("part", "%d,%s", n, kind)
	}
	for n := 1; n <= s.customers(); n++ {
		last := 0
		nation, segment := s.customer(n, func(i item) {
			if i.order != last {
				last = i.order
				put("orders", "%d,%d,%s,%s", i.order, n, dayText(i.orderDay), priorities[i.priority])
			}
			put(
				"lineitem",
				"%d,%d,%d,%d,%d.%02d,0.%02d,0.%02d,%s,%s,%s,%s,%s,%s",
				i.order,
				i.part,
				i.supplier,
				i.quantity,
				i.price/100,
				i.price%100,
				i.discount,
				i.tax,
				i.returned,
				i.status,
				dayText(i.shipDay),
				dayText(i.commitDay),
				dayText(i.receipt),
				modes[i.mode],
			)
			each(i)
		})
		put("customer", "%d,%d,%s", n, nation, segments[segment])
	}
	for _, w := range open {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// quarter returns the quarter of the year of a day, from "1" to "4".
func quarter(n int) string {
	return fmt.Sprint((int(time.Unix(int64(n)*86400, 0).UTC().Month())-1)/3 + 1)
}

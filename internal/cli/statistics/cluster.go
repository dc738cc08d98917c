package statistics

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/stats/cluster"
)

type clusterFlags struct {
	cluster.Request
	columns, many string
	explain       bool
	picture       console.Picture
}

func (f *clusterFlags) declare(s *console.Console) {
	s.FormatFlag("table", "json", "markdown")
	s.Flag(&f.Table, "table", "TABLE", "the table whose rows are clustered")
	s.Flag(&f.columns, "column", "LIST",
		"the numeric columns to cluster by, such as age,hours; each is scaled by its declared bounds")
	s.Flag(&f.Where, "where", "CONDITION", "use only the rows that satisfy this condition, in SQL")
	s.Flag(&f.many, "k", "K",
		"the number of clusters, from 1 to 64; with a range such as 2..8 (or auto, which means 2..8), grid chooses "+
			"it from its releases, at no further price")
	s.Flag(&f.Most, "most", "N", "measure for up to N clusters, so that any -k up to N is free afterwards; -k 2..N "+
		"does the same")
	s.Flag(&f.Method, "method", "NAME", "lloyd, grid or tree (default: grid for few columns and many rows, else tree)")
	s.Flag(&f.Iterations, "iterations", "T", "the number of iterations of lloyd (default 6)")
	s.Flag(&f.Average, "average", "M", "combine the centres of the last M iterations of lloyd (default: half of them)")
	s.Flag(&f.Radius, "radius", "R",
		"limit the norm of each row of scaled columns, for less noise: L1 with --epsilon, L2 with --rho")
	s.Flag(&f.Seed, "seed", "S",
		"the seed of randomness that is not for privacy, such as the starting points (default 1)")
	s.PriceFlags(&f.Epsilon, &f.Rho, "the whole clustering")
	s.ConfidenceFlag(&f.Confidence)
	s.AnalystFlag(&f.Analyst)
	s.Flag(&f.Fresh, "fresh", "", "pay again for new noise, even if these clusters were released before")
	s.Flag(&f.explain, "explain", "", "show the price and the expected noise, free")
	s.Flag(&f.picture.File, "plot", "FILE", "draw the clusters as FILE.svg or FILE.png")
}

// Cluster is the command `dither cluster`.
var Cluster = console.Verb{
	Name:  "cluster",
	Args:  "--table T --column X,Y -k K",
	About: "find groups of rows by k-means",
	Run:   runCluster,
}

// runCluster finds clusters, or explains what they would cost.
func runCluster(s *console.Console, args []string) error {
	f := clusterFlags{Request: cluster.Request{Seed: 1}}
	f.declare(s)
	rest, helped, err := s.Parse(args)
	q := f.Request
	switch {
	case err != nil || helped:
		return err
	case len(rest) > 0:
		return console.Usage("cluster takes only flags, not %q", rest[0])
	case q.Table == "" || f.columns == "" || f.many == "":
		return console.Usage("cluster needs --table, --column and -k")
	}
	q.Columns = commaList(f.columns)
	if q.Least, q.K, err = clusterCount(f.many); err != nil {
		return err
	}
	if err := f.picture.Check(s); err != nil {
		return err
	}
	return s.Asking(func(c *curator.Session) error {
		if f.explain {
			e, err := cluster.ExplainKMeans(context.Background(), c, q)
			if err != nil {
				return err
			}
			return showClustering(s, e)
		}
		found, err := cluster.KMeans(s.Context(), c, q)
		if err != nil {
			return err
		}
		return errors.Join(showClusters(s, found), drawClusters(&f.picture, found))
	})
}

// clusterCount parses the number of clusters: a number, a range such as 2..8, or auto. The result least is 0 unless the
// number is to be chosen; then the choice is among least to k clusters.
func clusterCount(text string) (least, k int, err error) {
	if text == "auto" {
		return 2, 8, nil
	}
	from, to, several := strings.Cut(text, "..")
	if !several {
		from, to = "0", text
	}
	least, err = strconv.Atoi(from)
	if err == nil {
		k, err = strconv.Atoi(to)
	}
	if err != nil || several && least == 0 {
		return 0, 0, console.Usage("-k must be a number of clusters, a range such as 2..8, or auto, not %q", text)
	}
	return least, k, nil
}

func showClusters(s *console.Console, c *cluster.Result) error {
	if s.Format == "json" {
		return s.JSON(c)
	}
	header, right := []string{"cluster", "rows"}, []bool{true, true}
	for _, name := range c.Columns {
		header, right = append(header, name), append(right, true)
	}
	var rows [][]string
	for i, k := range c.Clusters {
		row := []string{strconv.Itoa(i + 1), clusterNumber(k.Size)}
		for _, x := range k.Centre {
			row = append(row, clusterNumber(x))
		}
		rows = append(rows, row)
	}
	clusterTable(s, header, right, rows)
	how := ""
	switch {
	case len(c.Buckets) > 0:
		how = ", " + clusterGrid(c.Buckets)
	case c.Leaves > 0:
		how = fmt.Sprintf(", %s", render.Plural(c.Leaves, "group"))
	case c.Trace != nil:
		how = fmt.Sprintf(", %s", render.Plural(len(c.Trace)-1, "iteration"))
	}
	words := fmt.Sprintf("by %s%s, seed %d; numbers in brackets are %s intervals, each by itself\n",
		c.Method, how, c.Seed, render.Percent(c.Confidence.String()))
	for _, x := range c.Scores {
		words += fmt.Sprintf("%s: silhouette %s", render.Plural(x.K, "cluster"), render.Fixed(x.Silhouette, 3))
		if x.StdDev > 0 {
			words += fmt.Sprintf(", noise on the difference from the best about %.2g", x.StdDev)
		}
		words += "\n"
	}
	for _, w := range c.Warnings {
		words += "warning: " + w + "\n"
	}
	for _, n := range c.Notes {
		words += n + "\n"
	}
	price := "price " + c.Price.String()
	if c.Replayed {
		price = "released before: free"
	}
	words += render.BoundsLine(c.Limits)
	paragraphs(s, words+fmt.Sprintf("%s, remaining %s (%s)\n", price, c.Remaining, clusterReleases(c.Releases)))
	return nil
}

// clusterGrid writes the size of a grid, such as 12 × 12 cells.
func clusterGrid(buckets []int) string {
	var parts []string
	for _, b := range buckets {
		parts = append(parts, strconv.Itoa(b))
	}
	return strings.Join(parts, " × ") + " cells"
}

// clusterReleases writes the names of releases, such as r3 … r8.
func clusterReleases(ids []string) string {
	switch len(ids) {
	case 0:
		return "none"
	case 1:
		return ids[0]
	case 2:
		return ids[0] + ", " + ids[1]
	}
	return ids[0] + " … " + ids[len(ids)-1]
}

// clusterNumber writes a number with its interval, rounded to two significant digits of the interval's half-width.
func clusterNumber(n cluster.Number) string {
	half := (n.High - n.Low) / 2
	if !(half > 1e-12*math.Max(1, math.Abs(n.Value))) {
		return render.Compact(n.Value)
	}
	places := render.Decimals(half)
	write := func(x float64) string { return render.Fixed(x, places) }
	return write(n.Value) + " [" + write(n.Low) + ", " + write(n.High) + "]"
}

func clusterTable(s *console.Console, header []string, right []bool, rows [][]string) {
	if s.Format == "markdown" {
		s.Print("%s", render.MarkdownTable(header, right, rows))
		return
	}
	g := render.Grid{Right: right}
	g.Add(header...)
	for _, row := range rows {
		g.Add(row...)
	}
	s.Print("%s", g.Text("  "))
}

func showClustering(s *console.Console, e *cluster.Explanation) error {
	if s.Format == "json" {
		return s.JSON(e)
	}
	header, right := []string{"measurement", "accesses", "price of each", "σ of a count"}, []bool{false, true, true, true}
	for _, c := range e.Columns {
		header, right = append(header, "σ of Σ "+c), append(right, true)
	}
	var rows [][]string
	for _, l := range e.Accesses {
		row := []string{l.What, strconv.Itoa(l.Times), l.Price.String(), render.Compact(l.Count)}
		for _, x := range l.Sums {
			row = append(row, render.Compact(x))
		}
		rows = append(rows, row)
	}
	clusterTable(s, header, right, rows)
	words := fmt.Sprintf("by %s", e.Method)
	if len(e.Buckets) > 0 {
		words += ", " + clusterGrid(e.Buckets)
	}
	words += fmt.Sprintf("\nprice %s in all, ", e.Price)
	switch {
	case e.Replayed:
		words += "released before: free"
	case e.Affordable:
		words += fmt.Sprintf("remaining %s", e.Remaining)
	default:
		words += fmt.Sprintf("more than the remaining %s", e.Remaining)
	}
	if e.Unpaid != nil && *e.Unpaid != e.Price {
		words += fmt.Sprintf(", of which %s is not yet paid", *e.Unpaid)
	}
	words += fmt.Sprintf("\nprotects each %s (%s)\n", clusterUnit(e.Unit), e.Unit.Neighbours)
	if p := e.Unit.Person; p != nil && e.Unpaid != nil && *e.Unpaid == e.Price {
		words += fmt.Sprintf("a person with %s: loss at most %s\n", render.Plural(int(e.Unit.PersonRows), "row"), p)
	}
	for _, n := range e.Notes {
		words += n + "\n"
	}
	paragraphs(s, words)
	return nil
}

func clusterUnit(u curator.Unit) string {
	if u.Column == "" {
		return "row"
	}
	return u.Column
}

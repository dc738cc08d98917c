// Package cluster finds clusters of a table's rows by k-means: Lloyd's algorithm with noise in each iteration, k-means
// of a noisy grid, or k-means of the noisy means of groups.
//
// Each method divides one price among a fixed number of accesses to the rows, and computes from their releases alone.
// Nothing here can spend or read rows but through the curator.
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"dither/curator"
	"dither/stats/internal/request"
)

// Methods of a Request.
const (
	// KMeansLloyd is Lloyd's algorithm with noisy counts and sums in every iteration (Blum, Dwork, McSherry and Nissim,
	// "Practical privacy: the SuLQ framework", PODS 2005; McSherry, "Privacy integrated queries", SIGMOD 2009).
	MethodLloyd = "lloyd"
	// KMeansGrid is k-means of the noisy counts of a grid (EUGkM: Su, Cao, Li, Bertino and Jin, "Differentially private
	// k-means clustering", CODASPY 2016).
	MethodGrid = "grid"
	// KMeansTree is k-means of the noisy means of groups of rows that lie on the same sides of random planes (Charikar,
	// "Similarity estimation techniques from rounding algorithms", STOC 2002, whose prefixes are the tree; Chang,
	// Ghazi, Kumar and Manurangsi, "Locally private k-means in one round", ICML 2021).
	MethodTree = "tree"
)

// Request asks for K clusters of a table's rows. The centres minimise the squared distance of rows to the nearest
// centre, with columns scaled to between −1 and 1 by their declared bounds. A row in which one of the columns is NULL
// is in no cluster.
//
// All randomness but the noise follows from Seed. It protects nothing and is public: the ledger has it in each
// question's text.
type Request struct {
	Table   string
	Columns []string // numbers with declared bounds
	Where   string   // a condition on rows; "" for all
	K       int      // from 1 to 64
	// Least, at least 2, lets the grid method choose the number of clusters between Least and K from its releases, at
	// no further price. 0 is K clusters.
	Least int
	// Most is the number of clusters that the releases of the grid and tree methods are made for. Any K up to Most then
	// costs nothing more. 0 is K.
	Most   int
	Method string // KMeansLloyd, KMeansGrid or KMeansTree; "" chooses one by public numbers

	Iterations int // of lloyd; 0 is 6
	// Average is the number of last iterations whose counts and sums Lloyd's method adds up; 0 is half of them, 1 is
	// the last alone.
	Average int
	// Radius bounds the norm of a row's scaled columns, a decimal: L1 under ε, L2 under ρ. Longer rows are scaled down,
	// and the noise is smaller. "" is no bound but the columns' own.
	Radius string
	Seed   uint64 // 0 is 1

	Epsilon, Rho string // the price of all of it; as of curator.Request
	Confidence   string // of each interval by itself, a decimal; "" is 0.95
	Analyst      string
	Fresh        bool // pay for all accesses again, for new noise
}

// Result is a set of released clusters. Numbers are in the columns' own units.
type Result struct {
	Releases   []string     `json:"releases"` // in the ledger
	Method     string       `json:"method"`
	Columns    []string     `json:"columns"`
	Bounds     [][2]float64 `json:"bounds"`   // of each column, as declared
	Clusters   []Cluster    `json:"clusters"` // the largest first
	Confidence json.Number  `json:"confidence"`
	Rows       float64      `json:"rows"`              // the noisy number of rows in all clusters
	Seed       uint64       `json:"seed"`              // of the public randomness
	Buckets    []int        `json:"buckets,omitempty"` // of the grid method: the number of buckets of each column
	Leaves     int          `json:"leaves,omitempty"`  // of the tree method: the number of groups
	Scores     []Score      `json:"scores,omitempty"`  // of each number of clusters that was tried
	// Restarts counts, for Lloyd's method, how often a cluster with a noisy count below 1 began anew.
	Restarts int `json:"restarts,omitempty"`
	// Trace holds, for Lloyd's method, the first centres and those after each iteration.
	Trace     [][][]float64 `json:"trace,omitempty"`
	Warnings  []string      `json:"warnings"` // why these clusters are doubtful: functions of the releases
	Notes     []string      `json:"notes"`
	Price     curator.Loss  `json:"price"`
	Remaining curator.Loss  `json:"remaining"` // of the budget
	Replayed  bool          `json:"replayed"`  // all of it comes from earlier releases, at no cost
}

// Cluster is the number of rows that are nearest to a centre, and their mean.
type Cluster struct {
	Size   Number   `json:"size"`
	Centre []Number `json:"centre"` // in the order of the columns
}

// Number is a number with an interval. Result.Notes says what the interval covers.
type Number struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// mostClusters bounds k by the number of centres that the kernel accepts.
const mostClusters = 64

// KMeans clusters rows. It divides its price among a fixed number of accesses, each a curator.Moments, and begins only
// if the remaining budget covers all of them. The result is a function of their releases and of Seed, so the privacy
// loss is the sum of their prices, by composition.
//
// The same request again costs nothing. A request that was interrupted continues where it stopped, and pays for the
// rest alone.
//
// Errors are *curator.Error.
func KMeans(ctx context.Context, c *curator.Session, of Request) (*Result, error) {
	s, err := newKernelSource(ctx, c, of)
	if err != nil {
		return nil, err
	}
	out, unpaid, err := s.rehearse(ctx)
	if err != nil {
		return nil, err
	}
	if out == nil {
		if err := s.room(ctx, unpaid); err != nil {
			return nil, err
		}
		s.pay = true
		if out, err = s.run(ctx); err != nil {
			return nil, request.Stopped(err, s.taken...)
		}
	}
	return s.present(out), nil
}

// result is the result of a method, in scaled units.
type result struct {
	clusters  []scaledCluster
	pooled    []int   // of Lloyd's method: the number of last accesses that each cluster adds up
	groups    [][]int // of the grid and tree methods: the cells of the last access in each cluster
	trace     [][][]float64
	scores    []Score
	restarts  int
	buckets   []int
	leaves    int
	warnings  []string
	releases  []string
	paid      bool // some access was not a replay
	remaining curator.Loss
}

type scaledCluster struct {
	size   Number
	centre []Number
}

// runMethod runs a method over a source.
func runMethod(ctx context.Context, of task, s source) (*result, error) {
	switch of.method {
	case MethodLloyd:
		return runLloyd(ctx, of, s)
	case MethodGrid:
		return runGrid(ctx, of, s)
	}
	return runTree(ctx, of, s)
}

// task is a validated request in scaled units: each coordinate of a row is between −1 and 1, and its norm is at most
// radius.
type task struct {
	method              string
	d, k                int
	least, most         int // as of Clustering
	iterations, average int
	radius              float64 // 0 for none
	l2                  bool    // the norm of radius
	// values counts the whole numbers within each column's bounds; 0 if the column may have other numbers. Nil if no
	// column has whole numbers alone.
	values []int
	rows   float64 // that are expected, as declared; 0 where nobody says
	alpha  float64
	seed   uint64
}

// automaticMethod is the method for d columns and a grid of so many buckets (nil where they are not known beforehand).
func automaticMethod(d int, buckets []int) string {
	if d <= fewColumns && (buckets == nil || slices.Max(buckets) >= fewBuckets) {
		return MethodGrid
	}
	return MethodTree
}

const (
	fewColumns = 5
	fewBuckets = 3
)

// shares are the weights of a method's accesses in its price, in order.
func (t task) shares() []int64 {
	switch t.method {
	case MethodLloyd:
		out := make([]int64, t.iterations)
		for i := range out {
			out[i] = 1
		}
		return out
	case MethodGrid:
		if t.rows > 0 {
			return []int64{1}
		}
		return []int64{1, 19}
	}
	return []int64{1, 5, 14}
}

// errUnpaid ends a rehearsal at the first access that is not a replay.
var errUnpaid = errors.New("stats: this look has not been paid for")

// inside moves a point into the space of rows: it clamps each coordinate, and then scales the point down to the radius.
func (t task) inside(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		if !math.IsNaN(v) {
			out[i] = math.Max(-1, math.Min(1, v))
		}
	}
	if norm := t.norm(out); t.radius > 0 && norm > t.radius {
		for i := range out {
			out[i] *= t.radius / norm
		}
	}
	return out
}

func (t task) norm(x []float64) (n float64) {
	for _, v := range x {
		if t.l2 {
			n = math.Hypot(n, v)
		} else {
			n += math.Abs(v)
		}
	}
	return n
}

// nearestCentre is the first of the nearest centres, and the square of the distance.
func nearestCentre(x []float64, centres [][]float64) (best int, least float64) {
	least = math.Inf(1)
	for j, c := range centres {
		sum := 0.0
		for i, v := range c {
			sum += (x[i] - v) * (x[i] - v)
		}
		if sum < least {
			best, least = j, sum
		}
	}
	return best, least
}

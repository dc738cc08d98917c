// Package cluster finds clusters of a table's rows by k-means: Lloyd's algorithm with noise in each iteration,
// k-means of a noisy grid, or k-means of the noisy means of groups.
//
// Each method divides one price among a fixed number of accesses to the rows, and computes from their releases
// alone. The package reaches the rows and the budget only through the curator.
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

// Methods of a [Request].
const (
	// MethodLloyd is Lloyd's algorithm with noisy counts and sums in every iteration (Blum, Dwork, McSherry and
	// Nissim, "Practical privacy: the SuLQ framework", PODS 2005; McSherry, "Privacy integrated queries", SIGMOD
	// 2009).
	MethodLloyd = "lloyd"
	// MethodGrid is k-means of the noisy counts of a grid (EUGkM: Su, Cao, Li, Bertino and Jin, "Differentially
	// private k-means clustering", CODASPY 2016).
	MethodGrid = "grid"
	// MethodTree is k-means of the noisy means of groups of rows. Rows in one group lie on the same sides of random
	// planes (Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002, whose prefixes form
	// the tree; Chang, Ghazi, Kumar and Manurangsi, "Locally private k-means in one round", ICML 2021).
	MethodTree = "tree"
)

// Request asks for K clusters of a table's rows. The centres minimise the squared distance of rows to the nearest
// centre, with columns scaled to between −1 and 1 by their declared bounds. A row in which one of the columns is
// NULL is in no cluster.
//
// Except for the noise, all randomness is determined by Seed. Seed protects nothing and is public: the ledger
// records it in the text of each question.
type Request struct {
	Table   string
	Columns []string // numeric columns with declared bounds
	Where   string   // a condition on rows; "" selects all rows
	K       int      // number of clusters, from 1 to 64
	// Least, at least 2, lets the grid method choose the number of clusters between Least and K from its releases,
	// at no further price. 0 means exactly K clusters.
	Least int
	// Most is the number of clusters for which the grid and tree methods make their releases. Any K up to Most then
	// costs nothing more. 0 means K.
	Most   int
	Method string // MethodLloyd, MethodGrid or MethodTree; "" chooses one by public numbers

	Iterations int // iterations of Lloyd's method; 0 means 6
	// Average is the number of final iterations whose counts and sums Lloyd's method adds up. 0 means half of the
	// iterations; 1 means the last alone.
	Average int
	// Radius is a decimal that bounds the norm of a row's scaled columns: the L₁ norm under ε, the L₂ norm under ρ.
	// Rows with a larger norm are scaled down, and the noise is smaller. "" means that only the columns' bounds
	// apply.
	Radius string
	Seed   uint64 // seed of the public randomness; 0 means 1

	Epsilon, Rho string // price of all accesses together; see curator.Request
	Confidence   string // confidence of each interval by itself, a decimal; "" means 0.95
	Analyst      string
	Fresh        bool // pays for all accesses again, for new noise
}

// Result holds released clusters. Its numbers are in the columns' own units.
type Result struct {
	Releases   []string     `json:"releases"` // names in the ledger
	Method     string       `json:"method"`
	Columns    []string     `json:"columns"`
	Bounds     [][2]float64 `json:"bounds"`   // declared bounds of each column
	Clusters   []Cluster    `json:"clusters"` // sorted by size, largest first
	Confidence json.Number  `json:"confidence"`
	Rows       float64      `json:"rows"`              // noisy number of rows in all clusters together
	Seed       uint64       `json:"seed"`              // seed of the public randomness
	Buckets    []int        `json:"buckets,omitempty"` // number of buckets of each column, for the grid method
	Leaves     int          `json:"leaves,omitempty"`  // number of groups, for the tree method
	Scores     []Score      `json:"scores,omitempty"`  // one for each number of clusters that was tried
	// Restarts is, for Lloyd's method, how often a cluster with a noisy count below 1 was restarted at a random
	// point.
	Restarts int `json:"restarts,omitempty"`
	// Trace holds, for Lloyd's method, the initial centres and the centres after each iteration.
	Trace    [][][]float64 `json:"trace,omitempty"`
	Warnings []string      `json:"warnings"` // reasons to doubt these clusters, computed from the releases
	Notes    []string      `json:"notes"`
	// Limits is what bounds the rows that the clusters and their intervals are about.
	Limits    *curator.Limits `json:"limits,omitempty"`
	Price     curator.Loss    `json:"price"`
	Remaining curator.Loss    `json:"remaining"` // remaining budget
	Replayed  bool            `json:"replayed"`  // all accesses are replays, so they cost nothing
}

// Cluster is the set of rows that are nearest to one centre: their number and their mean.
type Cluster struct {
	Size   Number   `json:"size"`
	Centre []Number `json:"centre"` // mean, in the order of the columns
}

// Number is a number with an interval. Result.Notes states what the interval covers.
type Number struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// mostClusters is the largest number of clusters. It equals the largest number of centres that the kernel accepts.
const mostClusters = 64

// KMeans clusters rows. It divides its price among a fixed number of accesses, each a curator.Moments, and starts
// only if the remaining budget covers all of them. The result is a function of their releases and of Seed. By
// composition, the privacy loss is therefore the sum of their prices.
//
// Repeating a request costs nothing. A request that was interrupted continues where it stopped, and pays only for
// the remaining accesses.
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

// result is the outcome of a method, in scaled units.
type result struct {
	clusters  []scaledCluster
	pooled    []int   // number of final accesses that each cluster adds up, for Lloyd's method
	groups    [][]int // cells of the last access in each cluster, for the grid and tree methods
	trace     [][][]float64
	scores    []Score
	restarts  int
	buckets   []int
	leaves    int
	warnings  []string
	releases  []string
	paid      bool // at least one access was not a replay
	remaining curator.Loss
	limits    *curator.Limits // those of all accesses, which read the same rows
}

type scaledCluster struct {
	size   Number
	centre []Number
}

func runMethod(ctx context.Context, of task, s source) (*result, error) {
	switch of.method {
	case MethodLloyd:
		return runLloyd(ctx, of, s)
	case MethodGrid:
		return runGrid(ctx, of, s)
	}
	return runTree(ctx, of, s)
}

// task is a validated request in scaled units. Each coordinate of a row is between −1 and 1, and the norm of a row
// is at most radius.
type task struct {
	method              string
	d, k                int
	least, most         int // Least and Most of the [Request]
	iterations, average int
	radius              float64 // largest norm of a row; 0 if unbounded
	l2                  bool    // radius bounds the L₂ norm instead of the L₁ norm
	// values holds the number of integers within each column's bounds, or 0 for a column that may have other
	// numbers. It is nil if all columns may have other numbers.
	values []int
	rows   float64 // declared number of rows; 0 if unknown
	alpha  float64
	seed   uint64
}

// automaticMethod returns the method for d columns. buckets are the numbers of buckets of a grid, or nil if they
// are not known beforehand.
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

// shares returns the weights by which a method's accesses share its price, in order.
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

// errUnpaid ends a rehearsal at the first access without an earlier release.
var errUnpaid = errors.New("stats: this access has not been paid for")

// inside moves a point into the space of the rows: it clamps each coordinate and then scales the point down to the
// radius.
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

// nearestCentre returns the index of the nearest centre, and the squared distance to it. Among equally near
// centres, it returns the first.
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

package stats

import (
	"context"
	"errors"
	"math"
	"slices"

	"dither/curator"
	"dither/stats/internal/request"
)

// The methods of k-means.
const (
	// KMeansLloyd is Lloyd's algorithm with noisy counts and sums in every iteration (Blum, Dwork, McSherry and Nissim, "Practical privacy: the SuLQ
	// framework", PODS 2005; McSherry, "Privacy integrated queries", SIGMOD 2009).
	KMeansLloyd = "lloyd"
	// KMeansGrid is k-means of the noisy counts of a grid (EUGkM: Su, Cao, Li, Bertino and Jin, "Differentially private k-means clustering", CODASPY 2016).
	KMeansGrid = "grid"
	// KMeansTree is k-means of the noisy means of groups of rows that lie on the same sides of random planes (Charikar, "Similarity estimation
	// techniques from rounding algorithms", STOC 2002, whose prefixes are the tree; Chang, Ghazi, Kumar and Manurangsi, "Locally private k-means
	// in one round", ICML 2021).
	KMeansTree = "tree"
)

// Clustering asks for k clusters of a table's rows, with the least squared distance of rows to the nearest of k centres, in the columns as they
// are scaled to between −1 and 1 by their declared bounds. A row in which one of the columns is NULL is in no cluster.
//
// All that is random but the noise follows from Seed: it protects nothing, is public, and is told in each question's text in the ledger.
type Clustering struct {
	Table   string
	Columns []string // numbers with declared bounds
	Where   string   // a condition on rows; "" for all
	K       int      // from 1 to 64
	// Least, from 2 on, lets the number of clusters be chosen from it to K by what grid releases, at no further price. 0 is K clusters.
	Least int
	// Most is for how many clusters rows are looked at: what was released for so many (as by Least) gives any K up to it, free: of grid and tree. 0 is K.
	Most   int
	Method string // KMeansLloyd, KMeansGrid or KMeansTree; "" chooses one by public numbers

	Iterations int // of lloyd; 0 is 6
	// Average is over how many of the last iterations lloyd adds up counts and sums; 0 is half of them, 1 is the last alone.
	Average int
	// Radius bounds the norm of a row's scaled columns, a decimal: L1 under ε, L2 under ρ. A longer row is drawn in to it, and noise is less. "" is no bound
	// but the columns' own.
	Radius string
	Seed   uint64 // 0 is 1

	Epsilon, Rho string // the price of all of it; as of curator.Question
	Confidence   string // of each interval by itself, a decimal; "" is 0.95
	Analyst      string
	Fresh        bool // pay for all looks again, for new noise
}

// Clusters are released clusters. Numbers are in the columns' own units.
type Clusters struct {
	Method     string
	Columns    []string
	Bounds     [][2]float64 // of each column, as declared
	Confidence string
	Clusters   []Cluster // the largest first
	// Trace are lloyd's centres: those it begins with, and those after each iteration.
	Trace    [][][]float64
	Scores   []ClusterScore // where the number of clusters was chosen: of each that was tried
	Restarts int            // of lloyd: how often a cluster of less than one row, by its noisy count, began anew
	Buckets  []int          // of grid: how many each column has
	Leaves   int            // of tree: how many groups it told apart
	Rows     float64        // the noisy number of rows in all clusters
	Seed     uint64         // that of public randomness
	Releases []string       // in the ledger
	Price    curator.Loss
	// Remaining is of the budget.
	Remaining curator.Loss
	Replayed  bool // all of it from earlier releases, at no cost
	Notes     []string
	Warnings  []string // what makes these clusters doubtful: functions of what was released
}

// Cluster is one cluster: how many rows are nearest to its centre, and their mean.
type Cluster struct {
	Size   ClusterNumber
	Centre []ClusterNumber // in the order of the columns
}

// ClusterNumber is a number with an interval for what noise did to it. See Clusters.Notes for what it is about.
type ClusterNumber struct{ Value, Low, High float64 }

// kmMost bounds k by how many centres the kernel takes.
const kmMost = 64

// KMeans clusters rows. Its whole price is divided beforehand among a fixed number of looks by the kernel, each a curator.Moments, and nothing is asked
// unless what remains of the budget is enough for all of them. What it computes are functions of what these
// released, and of Seed; so its loss is the sum of their prices, by composition.
//
// Asked again, it is given again at no cost; one that was interrupted goes on where it was, and pays for the rest alone.
//
// Errors are *curator.Error.
func KMeans(ctx context.Context, c *curator.Curator, of Clustering) (*Clusters, error) {
	s, err := newKMCurator(ctx, c, of)
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

// kmResult is what a method finds, in scaled units.
type kmResult struct {
	clusters  []kmCluster
	pooled    []int   // of lloyd: of how many of the last looks each cluster's numbers are
	groups    [][]int // of grid and tree: which cells of the last look are in each cluster
	trace     [][][]float64
	scores    []ClusterScore
	restarts  int
	buckets   []int
	leaves    int
	warnings  []string
	releases  []string
	paid      bool // some look was not a replay
	remaining curator.Loss
}

type kmCluster struct {
	size   ClusterNumber
	centre []ClusterNumber
}

// kmMethod runs a method over a source.
func kmMethod(ctx context.Context, of kmTask, s kmSource) (*kmResult, error) {
	switch of.method {
	case KMeansLloyd:
		return kmLloyd(ctx, of, s)
	case KMeansGrid:
		return kmGrid(ctx, of, s)
	}
	return kmTree(ctx, of, s)
}

// kmTask is a clustering in scaled units, decided: each coordinate of a row is between −1 and 1, and its norm is at most radius.
type kmTask struct {
	method              string
	d, k                int
	least, most         int // as of Clustering
	iterations, average int
	radius              float64 // 0 for none
	l2                  bool    // the norm of radius
	values              []int   // of each column how many whole numbers are within its bounds; 0 where there are others. Nil for no such column
	rows                float64 // that are expected, as declared; 0 where nobody says
	alpha               float64
	seed                uint64
}

// kmAutomatic is the method for d columns and a grid of so many buckets (nil where they are not known beforehand).
func kmAutomatic(d int, buckets []int) string {
	if d <= kmFewColumns && (buckets == nil || slices.Max(buckets) >= kmFewBuckets) {
		return KMeansGrid
	}
	return KMeansTree
}

const (
	kmFewColumns = 5
	kmFewBuckets = 3
)

// kmShares are the weights of the looks of a method, in the order in which it takes them.
func (t kmTask) kmShares() []int64 {
	switch t.method {
	case KMeansLloyd:
		out := make([]int64, t.iterations)
		for i := range out {
			out[i] = 1
		}
		return out
	case KMeansGrid:
		if t.rows > 0 {
			return []int64{1}
		}
		return []int64{1, 19}
	}
	return []int64{1, 5, 14}
}

// errKMUnpaid ends a rehearsal where the next look is not a replay.
var errKMUnpaid = errors.New("stats: this look has not been paid for")

// kmInside moves a point to the nearest that a row can be, coordinate by coordinate, and then towards 0.
func (t kmTask) kmInside(x []float64) []float64 {
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

func (t kmTask) norm(x []float64) (n float64) {
	for _, v := range x {
		if t.l2 {
			n = math.Hypot(n, v)
		} else {
			n += math.Abs(v)
		}
	}
	return n
}

// kmNearest is the nearest centre, of equally near ones the first, and the square of the distance.
func kmNearest(x []float64, centres [][]float64) (best int, least float64) {
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

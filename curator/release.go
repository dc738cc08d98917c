package curator

import (
	"math"
	"math/big"
)

// Release is one answer.
type Release struct {
	ID         string // of the release in the ledger
	SQL        string
	Confidence string // of each cell's interval
	Columns    []Column
	Groupings  []Grouping // where GROUP BY has several grouping sets
	Rows       []Row
	RowsBound  *RowsBound // how many rows of one unit count, where that was found first; else nil
	Price      Loss
	Remaining  Loss
	Replayed   bool // answered from earlier releases, at no cost
	// From names the releases from which the answer was computed, if it is not itself one of them. ID is then the name of the first.
	From  []string
	Whole bool // counts are shown as whole numbers; intervals are about the estimates behind them
}

// Kind tells the columns that name a row from those that hold released numbers.
type Kind string

// The kinds of column.
const (
	Key     Kind = "key"
	Measure Kind = "measure"
)

// Mechanisms that a column may name.
const (
	DiscreteLaplace  = "discrete laplace"  // noise of Scale on the sum or count itself
	DiscreteGaussian = "discrete gaussian" // noise of Scale σ, likewise
	Ratio            = "ratio"             // a quotient of noisy Parts
	Derived          = "derived"           // computed otherwise from noisy Parts
	LeastSquares     = "least squares"     // fitted to the noisy vectors of several groupings, whose noise stands there
	EarlierReleases  = "earlier releases"  // computed from earlier releases, whose noise stands there
	Constant         = "constant"          // computed from nothing private
)

// Column describes a column of an answer.
type Column struct {
	Name      string
	Kind      Kind
	Mechanism string   // "" for a key
	Scale     *float64 // of the noise, in the column's unit; nil where it has no one scale
	// of the column's vector of cells, in its unit: L1 for Laplace noise, L2 for Gaussian; nil likewise
	Sensitivity *float64
	Share       Loss   // of the price, where the column is one measure
	Parts       []Part // what a quotient or another expression is computed from
	Expected    *Expected
	// Of a quantile: with the answer's confidence, how many rows (in the order of the value) lie between the value and the quantile at
	// most, and between the quantile and the ends of its interval. Both are functions of public parameters.
	RankError, IntervalRows *float64
	// Of a mode: likewise, how many rows fewer the chosen value has than the most frequent one.
	Shortfall *float64
	Bounds    *Bounds // where they are found: of an answer what was found, of an explanation the widest there are
}

// Bounds are those that a column's values were held within, where a search found them.
type Bounds struct {
	Low, High float64
	Share     Loss // of the search
}

// Part is a noisy sum or count behind a column.
type Part struct {
	Name        string
	Mechanism   string
	Scale       float64
	Sensitivity float64 // L1 for Laplace noise, L2 for Gaussian
	Share       Loss
	Centre      float64 // what was subtracted from each row's value before the sum
}

// Expected says before a question is paid what its error will be. It is a function of public parameters alone.
type Expected struct {
	StdDev    float64 // NaN where there is none
	HalfWidth float64 // of the interval; NaN where it depends on N
	// For an average: its first-order standard deviation and half-width are these numbers divided by the number of rows
	// averaged, near the middle of the bounds.
	StdDevTimesN, HalfWidthTimesN float64
	// the owner's declared number of rows, if any, that HalfWidth and StdDev are given for
	N int64
}

// Row is one row of an answer, a cell for each column.
type Row []Cell

// Cell is a key's value (nil, int64, float64, string or bool; a date is its text) or an estimate.
type Cell struct {
	Key      any
	Summed   bool // the row is a total over this key, which is nil
	Estimate *Estimate
}

// Estimate is a number with its error bar. The interval covers noise and rounding around the bounded quantity: what the
// cleaned and capped rows add up to. It covers neither sampling nor what the bounds cut off.
type Estimate struct {
	Value     *Number  // nil where there is none: an average over a count that is not positive, a quotient by 0
	StdDev    *float64 // nil where there is none
	Low, High *Number  // nil where the interval has no such end
	Parts     []NamedEstimate
	Chosen    bool // from a list: the value has no interval
}

// NamedEstimate is a part's estimate.
type NamedEstimate struct {
	Name string
	Estimate
}

// Number is a whole number of any size, or a double; of a quantile of dates a date, and of a mode the value that was chosen.
type Number struct {
	Whole *big.Int // nil for a double, a date or a text
	Real  float64  // the number, or the double nearest to Whole; of a date the days since 1970-01-01
	Text  *string  // of a date or a text; else nil
}

func realNumber(x float64) *Number {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &Number{Real: x}
}

func wholeNumber(n *big.Int) *Number {
	f, _ := new(big.Float).SetInt(n).Float64()
	return &Number{Whole: n, Real: f}
}

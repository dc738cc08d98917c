package curator

import (
	"math"
	"math/big"
)

// Release is the answer to a question.
type Release struct {
	ID         string // "" if Free
	SQL        string
	Confidence string // the confidence of each cell's interval
	Columns    []Column
	Groupings  []Grouping // set if GROUP BY has several grouping sets
	Rows       []Row
	Limits     *Limits    // what bounds the answer: nothing beyond these limits counts, or is within the intervals
	Notes      []string   // how dither read the question, where other databases read it differently
	RowsBound  *RowsBound // the bound on one unit's rows, if the question asked to find it first; else nil
	// the estimate of what the bounds cut; nil if the question and the policy ask for none
	Truncation *Truncation
	Measured   *Measured // the question that was measured, if SQL computes with its answer; else nil
	// the questions that were measured, if SQL computes with the answers of several; Price is that of all of them
	Questions []*Measured
	Paid      *Loss // the price of those that were not replayed; nil if all or none were
	Price     Loss
	Remaining Loss
	Replayed  bool // returned from earlier releases, at no cost
	Free      bool // the question reads no row, so its answer is exact, and not recorded
	// From names the earlier releases that the answer was computed from, if it has no release of its own. ID is
	// then the first of them.
	From  []string
	Whole bool // counts are shown as whole numbers; the intervals are those of the estimates before rounding
}

// Kind distinguishes columns that identify a row from columns of released numbers.
type Kind string

// The kinds of column.
const (
	Key     Kind = "key"
	Measure Kind = "measure"
)

// Mechanisms that a column may name.
const (
	DiscreteLaplace  = "discrete laplace"  // noise of Scale on the sum or count itself
	DiscreteGaussian = "discrete gaussian" // noise of standard deviation Scale on the sum or count itself
	Ratio            = "ratio"             // a quotient of noisy Parts
	Derived          = "derived"           // another expression of noisy Parts
	// fitted to the noisy vectors of several groupings. Field Groupings describes their noise
	LeastSquares    = "least squares"
	EarlierReleases = "earlier releases" // computed from earlier releases, which have their own noise
	Constant        = "constant"         // a constant, without noise
)

// Column describes a column of an answer.
type Column struct {
	Name      string
	Kind      Kind
	Mechanism string   // "" for a key
	Scale     *float64 // the noise scale, in the column's unit; nil if the column has no single scale
	// the sensitivity of the column's vector of cells, in its unit: L1 for Laplace noise, L2 for Gaussian noise;
	// nil if Scale is nil
	Sensitivity *float64
	Share       Loss   // the share of the price, if the column is a single measure
	Parts       []Part // the noisy numbers that an expression is computed from
	Expected    *Expected
	NoInterval  string // why the numbers have no intervals; "" if they have
	// For a quantile, both are numbers of rows in the order of the value, and functions of public parameters. RankError
	// bounds the rows between the released value and the quantile, at the answer's confidence, for all data.
	// IntervalRows is about the mean half-width of the interval, if values are dense around the quantile.
	RankError, IntervalRows *float64
	// For a mode: a bound, at the answer's confidence, on how many rows fewer the chosen value has than the most
	// frequent one.
	Shortfall *float64
	// set if the question asks to find bounds: in an answer the bounds found, in an explanation the widest possible
	Bounds *Bounds
}

// Bounds are the bounds to which a column's values are clamped, if a search finds them.
type Bounds struct {
	Low, High float64
	Share     Loss // the search's share of the price
}

// Part is a noisy sum or count that a column is computed from.
type Part struct {
	Name        string
	Mechanism   string
	Scale       float64
	Sensitivity float64 // L1 for Laplace noise, L2 for Gaussian
	Share       Loss
	Centre      float64 // the number subtracted from each row's value before summing
}

// Expected is the predicted error of a column. It is a function of public parameters only.
type Expected struct {
	StdDev    float64 // NaN if it is not known
	HalfWidth float64 // half the width of the interval; NaN if it depends on the number of rows
	// For an average: dividing these numbers by the number of averaged rows gives its standard deviation and
	// half-width, to first order. They are for averages near the middle of the bounds.
	StdDevTimesN, HalfWidthTimesN float64
	// the declared number of rows for which HalfWidth and StdDev are computed, if the owner declared one
	N int64
}

// Row is one row of an answer, a cell for each column.
type Row []Cell

// Cell is a key's value or an estimate. A key's value is nil, int64, float64, string or bool; a date is a string.
type Cell struct {
	Key      any
	Summed   bool // the row is a total over this key, whose value is nil
	Estimate *Estimate
}

// Estimate is a number with its interval. The interval covers noise and rounding around the bounded quantity, which
// is computed from cleaned values after contribution bounding. It covers neither sampling nor what the bounds cut
// off.
type Estimate struct {
	Value     *Number  // nil if there is none, as for an average over a count that is not positive, or a quotient by 0
	StdDev    *float64 // nil if there is none
	Low, High *Number  // nil for an end that the interval does not have
	Parts     []NamedEstimate
	Chosen    bool // the value was chosen from a list, and has no interval
	// the value depends on released numbers and has no interval: Column.NoInterval says why
	Bare bool
	// the interval is the whole range that the bounds allow, so it says nothing about the rows
	Vacuous bool
}

// NamedEstimate is the estimate of a named part.
type NamedEstimate struct {
	Name string
	Estimate
}

// Number is a whole number of any size, or a double. A quantile of dates is a date, and a mode may be a text.
type Number struct {
	Whole *big.Int // nil for a double, a date or a text
	Real  float64  // the number, or the double nearest to Whole; for a date, the days since 1970-01-01
	Text  *string  // the text of a date or a text value; else nil
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

package curator

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/release"
	"dither/mechanism/stream"
)

// StreamDeclaration declares a stream of counts: a question whose count is released for each period of a horizon, under
// one price. It is not a [Stream] of questions against a threshold.
type StreamDeclaration struct {
	Name string // letters, digits and underscores; SQL reads the stream by this name
	// SQL is the question: SELECT COUNT(*) FROM visits WHERE … GROUP BY region. It counts rows of one table, whose
	// unit is a column, in groups with known keys.
	SQL   string
	Every string // the length of a period: hour, day or week; "" means day
	// the beginning of the first period, in UTC: a date, or a date and time by RFC 3339; "" means today, or this hour
	From      string
	Periods   int   // the number of periods
	Rows      int64 // the most rows of one unit that count over the whole horizon; 0 means 1
	PerPeriod int64 // the most rows of one unit that count in one period; 0 means Rows
	Key       []string
	// Window and Decay state the sums that the stream is for: over the last Window periods, or sums in which each period
	// multiplies earlier counts by Decay, a decimal such as 0.95. At most one of them may be set, and neither means
	// running totals. A stream with a Decay needs a Matrix.
	Window int
	Decay  string
	// Matrix is the matrix by which the stream measures, such as strategy.Factorize chooses. The entries on its diagonal
	// are at least 2^20. nil means the square root of the matrix of running totals.
	Matrix       *stream.Factor
	Epsilon, Rho string // the price of the whole horizon, as in Question
	Analyst      string
}

// StreamReport is the public state of a stream of counts: its declaration, and its releases.
type StreamReport struct {
	ID, Name, SQL, Every string
	From                 time.Time
	Periods              int
	Rows, PerPeriod      int64    // PerPeriod is 0 if all Rows may count in one period
	Key                  []string // the columns that identify a row
	Declared             int      // the window that the stream is for; 0 if it is for other sums
	Decay                string   // of the fading sums; "" if the stream has none
	Price                Loss
	Analyst              string
	Ended                bool // all periods are released
	GivenUp              bool // the owner gave the stream up
	Damaged              bool // an entry of the stream in the ledger cannot be read; only Streams returns such a report
	Columns              []string
	Window               int    // the number of periods of a window
	Confidence           string // of the intervals, a decimal
	Remaining            Loss
	Cells                []StreamCell     // by group and period, the groups in the order of their keys
	Expected             []StreamExpected // standard deviations by period, known before anything is spent
	Advances             []StreamAdvance
	Choice               *StreamChoice // nil unless the caller compared matrices
}

// StreamChoice compares the matrices by which a stream could measure, by the errors of the sums that the stream is for.
type StreamChoice struct {
	Chosen     string
	Candidates []StreamCandidate
	Bound      float64 // no matrix has a smaller Maximum than this one
}

// StreamCandidate is a matrix with the standard deviations of its sums, in rows.
type StreamCandidate struct {
	Name          string
	RMSE, Maximum float64 // the root of the mean variance, and the largest standard deviation
}

// StreamAdvance is one advance of a stream: the periods that it released, and the newest version that was read.
type StreamAdvance struct {
	First, Last, Version int
	At                   time.Time
}

// StreamCell holds the estimates of one period in one group. The intervals cover the noise, and not the rows that the
// limit on a unit's rows leaves out. An estimate may be negative.
type StreamCell struct {
	Period               int
	Begins               time.Time
	Keys                 []*string // nil is NULL
	Count, Total, Window Estimate
	Decayed              *Estimate // nil if the stream has no decay
}

// StreamExpected holds the standard deviations of the estimates of one period.
type StreamExpected struct {
	Period                        int
	Count, Total, Window, Decayed float64 // Decayed is 0 if the stream has no decay
}

// StreamOptions select how a stream is shown. The zero value is the default.
type StreamOptions struct {
	// Window is the number of periods of a window. 0 means that of the declaration, or 7, or the horizon if that is shorter
	Window     int
	Confidence string // the confidence of the intervals; "" means 0.95
	Analyst    string
}

// CreateStream reserves the price of a whole stream, and declares it. It releases nothing. A row counts in the period in
// which it is first sealed after the creation. The rows of the newest version of the table count in no period, and
// CreateStream reads them for the stream's private file.
func (c *Owner) CreateStream(ctx context.Context, d StreamDeclaration) (*StreamReport, error) {
	if d.Matrix != nil { // a stream whose counts cannot be computed from its releases is not paid
		if _, err := c.ExplainStream(d, StreamOptions{}); err != nil {
			return nil, err
		}
	}
	s, err := c.plannedStream(d)
	if err != nil {
		return nil, c.public(err)
	}
	done, err := c.kernel.Sealing(ctx, s.Look().Tables()[0].Table)
	if err != nil {
		return nil, c.public(err)
	}
	defer done()
	if s, err = c.plannedStream(d); err != nil { // a sealing may have ended since
		return nil, c.public(err)
	}
	r, err := s.Create(ctx)
	if err != nil {
		return nil, c.public(err)
	}
	return c.reported(r, StreamOptions{})
}

// ExplainStream states the errors and the price of a stream before anything is spent.
func (c *Owner) ExplainStream(d StreamDeclaration, o StreamOptions) (*StreamReport, error) {
	s, err := c.plannedStream(d)
	if err != nil {
		return nil, c.public(err)
	}
	r := &release.ContinualRecord{
		Terms: s.Terms(), Price: s.Look().Price(), Table: s.Look().Tables()[0].Table, Analyst: d.Analyst,
	}
	report, err := c.reported(r, o)
	if err == nil {
		report.ID = ""
	}
	return report, err
}

// plannedStream plans a stream from its declaration.
func (c *Owner) plannedStream(d StreamDeclaration) (*release.Continual, error) {
	usage := func(hint, message string, args ...any) error {
		return &Error{Code: CodeUsage, Message: fmt.Sprintf(message, args...), Hint: hint}
	}
	if err := c.asks(&d.Analyst); err != nil {
		return nil, err
	}
	terms := release.ContinualTerms{
		Name: d.Name, Every: d.Every, Periods: d.Periods, Rows: max(d.Rows, 1), PerPeriod: d.PerPeriod, Window: d.Window,
		Factor: d.Matrix,
	}
	if terms.Every == "" {
		terms.Every = "day"
	}
	var err error
	switch terms.From, err = streamStart(d.From, terms.Length(), c.kernel.Now()); {
	case !streamName(d.Name):
		return nil, usage("such as daily_visits",
			"a stream's name has 1 to 63 small letters, digits and underscores, and begins with a letter")
	case c.policy.Table(d.Name) != nil:
		return nil, usage("give the stream another name", "there is a table %q", d.Name)
	case terms.Length() == 0:
		return nil, usage("", "a period is an hour, a day or a week, not %q", d.Every)
	case err != nil || terms.From.Year() < 1 || terms.From.Year() > lastYear:
		return nil, usage("such as 2026-12-01, or 2026-12-01T06:00:00Z", "the first period must begin at a date")
	case d.Periods < 1 || d.Periods > stream.MaxPeriods:
		return nil, usage("", "the number of periods must be from 1 to %d, not %d", stream.MaxPeriods, d.Periods)
	case terms.PeriodAt(c.kernel.Now()) > d.Periods:
		return nil, usage("begin the stream later", "all periods of the stream are over: the last one ended at %s",
			terms.Begins(d.Periods+1).Format(time.RFC3339))
	case d.Rows < 0:
		return nil, usage("leave it out for 1", "the number of rows of a unit must be at least 1")
	case d.PerPeriod < 0 || d.PerPeriod > terms.Rows:
		return nil, usage("leave it out if they may all be in one period",
			"the number of rows of a unit in one period must be from 1 to the number over all periods, %d", terms.Rows)
	case d.Window < 0 || d.Window > d.Periods:
		return nil, usage("", "a window must have from 1 to %d periods, not %d", d.Periods, d.Window)
	case d.Window > 0 && d.Decay != "":
		return nil, usage("leave out one of them", "a stream is for windows, or for sums that fade, and not for both")
	case d.Matrix != nil && d.Matrix.Periods() != d.Periods:
		return nil, usage("", "the matrix has %d rows for %d periods", d.Matrix.Periods(), d.Periods)
	case d.Matrix != nil && coarse(d.Matrix):
		return nil, usage("multiply it by a number, which changes no error",
			"the entries on the diagonal of a stream's matrix must be at least %d", finest)
	case d.Decay != "" && d.Matrix == nil:
		return nil, usage("strategy.Factorize chooses one", "a stream of sums that fade needs a matrix")
	}
	if terms.PerPeriod == terms.Rows {
		terms.PerPeriod = 0 // no limit of its own
	}
	if terms.Decay, err = streamDecay(d.Decay); err != nil {
		return nil, usage("such as 0.95", "a decay must be a decimal above 0 and below 1, of at most 9 digits")
	}
	c.timed(&d.SQL)
	terms.SQL = d.SQL
	request, err := c.request(Question{SQL: d.SQL, Epsilon: d.Epsilon, Rho: d.Rho, Analyst: d.Analyst})
	if err != nil {
		return nil, err
	}
	target, err := plan.BuildScores(c.filled(), request)
	if err != nil {
		return nil, err
	}
	if terms.Identity, err = c.identity(target.Table, d.Key); err != nil {
		return nil, err
	}
	if name, ambiguous := ambiguousColumn(target); ambiguous {
		return nil, usage("give it another name by AS", "the table of the stream would have two columns %q", name)
	}
	return c.kernel.Continual(target, terms, release.Asker{Analyst: d.Analyst})
}

// finest is the least entry on the diagonal of a stream's matrix. The noise is a whole number. With smaller entries it
// would be too coarse for the normal intervals of streamEstimate.
const finest = 1 << 20

// coarse reports whether an entry on the diagonal of a matrix is below finest.
func coarse(f *stream.Factor) bool {
	for t := range f.Periods() {
		if f.Entry(t, t) < finest {
			return true
		}
	}
	return false
}

// ambiguousColumn returns the name of a group's column that another column of the stream's table has too. SQL does not
// distinguish cases.
func ambiguousColumn(t *plan.Target) (name string, ambiguous bool) {
	taken := map[string]bool{"period": true, "begins": true, "count": true, "total": true, "window": true, "decayed": true}
	for i, name := range t.Names {
		if t.Order[i] < 0 {
			continue
		}
		plain := strings.ToLower(name)
		for _, suffix := range []string{"_stddev", "_low", "_high"} {
			plain = strings.TrimSuffix(plain, suffix)
		}
		width, window := strings.CutPrefix(plain, "last_")
		if _, err := strconv.Atoi(width); taken[plain] || window && err == nil {
			return name, true
		}
		taken[strings.ToLower(name)] = true
	}
	return "", false
}

// streamName reports whether a text can be a stream's name.
func streamName(name string) bool {
	for i, r := range name {
		if letter := r >= 'a' && r <= 'z'; !letter && (i == 0 || r != '_' && (r < '0' || r > '9')) {
			return false
		}
	}
	return name != "" && len(name) <= 63
}

// streamDecay checks a decay, and returns it as it is recorded.
func streamDecay(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	r, err := exact.ParseRat(text)
	if err != nil {
		return "", err
	}
	scaled := new(big.Rat).Mul(r, big.NewRat(1e9, 1))
	if r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 || !scaled.IsInt() {
		return "", errors.New("out of range")
	}
	return strings.TrimRight(r.FloatString(9), "0"), nil
}

// lastYear is the last year in which a stream can begin. All of its periods begin before the year 10,000, so that their
// times have four digits for the year.
const lastYear = 9900

// streamStart parses the beginning of the first period: the beginning of the present day, or of the present hour
// for periods of an hour, if there is none.
func streamStart(text string, period time.Duration, now time.Time) (time.Time, error) {
	if text == "" {
		return now.UTC().Truncate(min(period, 24*time.Hour)), nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	return t.UTC().Truncate(time.Second), err
}

// identity returns the columns that identify a row: the given ones, or all of the table's.
func (c *Owner) identity(table string, key []string) ([]string, error) {
	t := c.policy.Table(table)
	var all []string
	for _, column := range t.Columns {
		all = append(all, column.Name)
	}
	for _, name := range key {
		if !slices.Contains(all, name) {
			return nil, &Error{
				Code: CodeUsage, Message: fmt.Sprintf("table %s has no column %q", SQLName(table), name),
				Hint: "its columns are " + strings.Join(all, ", "),
			}
		}
	}
	if len(key) > 0 {
		return key, nil
	}
	return all, nil
}

// AdvanceStream releases the periods of a stream that can be closed now, and returns the stream with them. A period is
// closed when it is over, or when a version that was sealed in it has been read. until, if not 0, is the last period to
// close. Each period is released once, and in order.
func (c *Owner) AdvanceStream(ctx context.Context, name string, until int, o StreamOptions) (*StreamReport, error) {
	r, err := c.streamRecord(name)
	if err != nil {
		return nil, err
	}
	if until < 0 {
		return nil, &Error{Code: CodeUsage, Message: "the number of a period is at least 1"}
	}
	s, err := c.resumed(r)
	if err != nil {
		return nil, c.public(err)
	}
	if r, err = s.Advance(ctx, until); err != nil {
		return nil, c.public(err)
	}
	return c.reported(r, o)
}

// EndStream gives a stream up. No further period is released, and its table no longer gets a version at each sealing. Its
// releases remain, and its price stays spent.
func (c *Owner) EndStream(ctx context.Context, name string) (*StreamReport, error) {
	r, err := c.kernel.EndContinual(ctx, name)
	if err != nil {
		return nil, c.public(err)
	}
	return c.streamTerms(r), nil
}

// resumed plans a recorded stream again, under the policy in force. The policy's limits on prices do not apply, because
// the stream is paid.
func (c *Owner) resumed(r *release.ContinualRecord) (*release.Continual, error) {
	p := *c.filled()
	p.Price.Minimum, p.Price.Maximum = r.Price, r.Price
	target, err := plan.BuildScores(&p, plan.Request{SQL: r.Terms.SQL, Price: r.Price})
	if err != nil {
		return nil, err
	}
	if _, err := c.identity(target.Table, r.Terms.Identity); err != nil {
		return nil, err
	}
	return c.kernel.Continual(target, r.Terms, release.Asker{Analyst: r.Analyst})
}

// ReadStream returns a stream with its releases. It is free, and reads no row.
func (c *Session) ReadStream(name string, o StreamOptions) (*StreamReport, error) {
	if err := c.asks(&o.Analyst); err != nil {
		return nil, err
	}
	if err := c.permitted(Question{Analyst: o.Analyst}); err != nil {
		return nil, err
	}
	r, err := c.streamRecord(name)
	if err != nil {
		return nil, err
	}
	return c.reported(r, o)
}

// Streams returns all streams of the home, without their releases. An analyst whom the policy does not permit to ask is
// refused. A stream with an entry that cannot be read is Damaged.
func (c *Session) Streams(o StreamOptions) ([]StreamReport, error) {
	if err := c.asks(&o.Analyst); err != nil {
		return nil, err
	}
	if err := c.permitted(Question{Analyst: o.Analyst}); err != nil {
		return nil, err
	}
	all, err := c.kernel.Continuals()
	if err != nil {
		return nil, c.public(err)
	}
	var out []StreamReport
	for _, r := range all {
		s := c.streamTerms(r)
		s.Expected = nil
		out = append(out, *s)
	}
	return out, nil
}

func (c *Session) streamRecord(name string) (*release.ContinualRecord, error) {
	r, err := c.kernel.ContinualNamed(name)
	if err != nil {
		return nil, c.public(err)
	}
	if r == nil {
		return nil, &Error{
			Code: CodeUsage, Message: fmt.Sprintf("there is no stream %q", name),
			Hint: "`dither stream list` prints all streams, and `dither stream create` creates one",
		}
	}
	return r, nil
}

// streamTerms returns the declaration of a stream.
func (c *Session) streamTerms(r *release.ContinualRecord) *StreamReport {
	out := &StreamReport{
		ID: r.Name(), Name: r.Terms.Name, SQL: r.Terms.SQL, Every: r.Terms.Every, From: r.Terms.From,
		Periods: r.Terms.Periods, Rows: r.Terms.Rows, PerPeriod: r.Terms.PerPeriod, Key: r.Terms.Identity,
		Price: c.loss(r.Price), Window: r.Terms.Window, Declared: r.Terms.Window, Decay: r.Terms.Decay,
		Analyst: r.Analyst, Ended: r.Ended, GivenUp: r.GivenUp, Damaged: r.Damaged,
	}
	if out.Window == 0 {
		out.Window = min(7, r.Terms.Periods)
	}
	for _, k := range r.Terms.Keys {
		out.Columns = append(out.Columns, k.Name)
	}
	for _, a := range r.Advances {
		out.Advances = append(out.Advances, StreamAdvance{a.First, a.Last, a.Version, a.At})
	}
	return out
}

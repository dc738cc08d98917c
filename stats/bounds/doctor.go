// Package bounds finds better bounds for a policy, privately. It asks for histograms without the declared bounds
// (curator.Undeclared), at public edges, in which one unit changes one count by at most 1. Everything else is computed
// from these releases. So its advice may be shown to anybody.
package bounds

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
)

// Largest is the largest share of the budget, or of a period's grant, that an examination may cost.
var Largest = big.NewRat(1, 20)

// Options choose what is examined, and at what price.
type Options struct {
	Tables       []string // the tables; none means all tables of persons
	Epsilon, Rho string   // the price of everything; "" is the largest share of the budget
	Analyst      string   // the name that the policy may require
}

// Doctor is a planned examination. Its price is fixed before the first question.
type Doctor struct {
	owner    *curator.Owner
	options  Options
	tables   []curator.Table
	subjects []subject
	whole    *big.Rat // the price of everything
	inRho    bool
	weights  int64
	most     *big.Rat // the policy's greatest price of one question, which a subject does not exceed; nil for none

	// Price is the most that the examination will still cost. Questions that were released before are free.
	Price curator.Loss
	// Free is true if all questions were released before.
	Free      bool
	Budget    curator.Loss
	Remaining curator.Loss
	// Lists is the number of text columns whose values are selected. Each also costs the policy's default δ for unknown
	// keys.
	Lists int
	// Units is about how many units a column needs for advice, at this price.
	Units float64
}

// New plans an examination. It charges nothing.
func New(ctx context.Context, owner *curator.Owner, o Options) (*Doctor, error) {
	d := &Doctor{owner: owner, options: o}
	budget, err := owner.Budget()
	if err != nil {
		return nil, err
	}
	d.Budget, d.Remaining = budget.Budget, budget.Remaining
	if budget.Period != nil {
		d.Budget, d.Remaining = budget.Period.Grant, budget.Period.Remaining
	}
	if err := d.priced(); err != nil {
		return nil, err
	}
	if d.most, _, err = request.Price(owner.Undeclared().Most()); err != nil {
		return nil, request.Misuse("", "the policy's greatest price is no number: %v", err)
	}
	if d.tables, err = owner.Tables(); err != nil {
		return nil, err
	}
	if err := d.choose(); err != nil {
		return nil, err
	}
	e := exact.FloatUp(d.part(2, big.NewRat(1, 1)))
	if d.inRho {
		e = 2 * math.Sqrt(e) // the ε of Laplace noise with the same standard deviation
	}
	d.Units = leastUnits / e
	x := examination{doctor: d, dry: true}
	if _, err = x.run(ctx); err != nil && !errors.Is(err, errUnreleased) {
		return nil, err
	}
	d.Free = err == nil
	left := new(big.Rat).Sub(d.sum(), &x.paid)
	if d.Free {
		left = new(big.Rat)
	}
	d.Price = d.loss(left)
	return d, nil
}

// Examine carries out the examination.
func (d *Doctor) Examine(ctx context.Context) (*Report, error) {
	if !d.Free {
		if !request.Affordable(d.Remaining, d.Price) {
			return nil, request.Exhausted("lower it with --epsilon or --rho, or name fewer tables", "the price", d.Price, d.Remaining)
		}
	}
	return (&examination{doctor: d}).run(ctx)
}

// priced sets the price of everything.
func (d *Doctor) priced() (err error) {
	whole, inRho, err := request.Price(d.Budget)
	if err != nil {
		return request.Misuse("", "the budget cannot be divided: %v", err)
	}
	most := exact.FloorDigits(new(big.Rat).Mul(whole, Largest), 6)
	d.whole, d.inRho = most, inRho
	switch o := d.options; {
	case o.Epsilon == "" && o.Rho == "":
		return nil
	case o.Epsilon != "" && o.Rho != "":
		return request.Misuse("leave one of them out", "a price is in ε or in ρ")
	case o.Rho != "" && !inRho:
		return request.Misuse("use --epsilon", "the budget is a pure epsilon, so a price in ρ is not possible")
	default:
		d.whole, err = exact.ParseDecimal(o.Epsilon + o.Rho)
		if err == nil && o.Epsilon != "" && inRho && d.whole.Sign() > 0 { // ε costs ε²/2, as in a question
			d.whole = exact.FloorDigits(new(big.Rat).Quo(new(big.Rat).Mul(d.whole, d.whole), big.NewRat(2, 1)), 6)
		}
		if err != nil || d.whole.Sign() <= 0 || d.whole.Cmp(most) > 0 {
			return request.Misuse("the rest of the budget is for answers",
				"an examination may cost at most 5 %% of the budget: %s", d.loss(most))
		}
	}
	return nil
}

// loss returns a price in the terms of the budget.
func (d *Doctor) loss(price *big.Rat) curator.Loss {
	text := exact.FormatRat(price)
	if d.inRho {
		return d.owner.Undeclared().Loss(text)
	}
	return curator.Loss{Epsilon: text, Delta: "0"}
}

// choose finds the subjects of the named tables.
func (d *Doctor) choose() error {
	for _, name := range d.options.Tables {
		i := slices.IndexFunc(d.tables, func(t curator.Table) bool { return strings.EqualFold(t.Name, name) })
		if i < 0 || d.tables[i].Public {
			return request.Misuse("`dither tables` lists them", "there is no table of persons %q", name)
		}
	}
	for _, t := range d.tables {
		if t.Public || len(d.options.Tables) > 0 &&
			!slices.ContainsFunc(d.options.Tables, func(n string) bool { return strings.EqualFold(t.Name, n) }) {
			continue
		}
		found, err := subjects(t, d.tables)
		if err != nil {
			return request.Misuse("", "%v", err)
		}
		for _, s := range found {
			if s.what == valuesOf && !d.selects(s) {
				continue
			}
			if s.what == valuesOf {
				d.Lists++
			}
			d.subjects, d.weights = append(d.subjects, s), d.weights+s.weight
		}
	}
	if len(d.subjects) == 0 {
		return request.Misuse("name another table", "the policy has nothing to examine")
	}
	return nil
}

// selects reports whether a private selection of a column's values is possible.
func (d *Doctor) selects(s subject) bool {
	_, err := d.owner.Undeclared().Released(d.question(s, ofList(s), big.NewRat(1, 1)))
	return err == nil
}

// part returns the price of a share of a subject of the given weight.
func (d *Doctor) part(weight int64, share *big.Rat) *big.Rat {
	price := new(big.Rat).Mul(d.whole, big.NewRat(weight, d.weights))
	if d.most != nil && price.Cmp(d.most) > 0 {
		price.Set(d.most)
	}
	return exact.FloorDigits(price.Mul(price, share), 6)
}

// sum returns the price of all subjects. Rounding, and the policy's greatest price, can make it less than the whole.
func (d *Doctor) sum() *big.Rat {
	sum := new(big.Rat)
	for _, s := range d.subjects {
		sum.Add(sum, d.part(s.weight, big.NewRat(1, 1)))
	}
	return sum
}

// question returns a question about a subject, at a share of its price.
func (d *Doctor) question(s subject, sql string, share *big.Rat) curator.Question {
	q := curator.Question{SQL: sql, Analyst: d.options.Analyst, MaxRows: s.rows, AllowSelection: s.what == valuesOf}
	if d.weights == 0 { // prices are not divided yet
		return q
	}
	if text := exact.FormatRat(d.part(s.weight, share)); d.inRho {
		q.Rho = text
	} else {
		q.Epsilon = text
	}
	return q
}

// errUnreleased reports that a dry run met a question without a release.
var errUnreleased = errors.New("a question was not released before")

// examination asks the questions of a doctor.
type examination struct {
	doctor *Doctor
	dry    bool // ask only what was released before
	paid   big.Rat
	last   *curator.Release
	ids    []string
}

// ask asks one question.
func (x *examination) ask(ctx context.Context, s subject, sql string, share *big.Rat) (*curator.Release, error) {
	q, u := x.doctor.question(s, sql, share), x.doctor.owner.Undeclared()
	if x.dry {
		if released, err := u.Released(q); err != nil {
			return nil, request.Partly(err)
		} else if !released {
			return nil, errUnreleased
		}
		x.paid.Add(&x.paid, x.doctor.part(s.weight, share))
	}
	r, err := u.Answer(ctx, q)
	if err == nil {
		x.ids, x.last = append(x.ids, r.ID), r
	}
	return r, err
}

// histogram returns an asker of a subject's histograms.
func (x *examination) histogram(ctx context.Context, s subject) asker {
	return func(edges []float64, share *big.Rat) (*histogram, error) {
		r, err := x.ask(ctx, s, s.sql(edges), share)
		if err != nil {
			return nil, err
		}
		h := &histogram{edges: edges, counts: make([]float64, len(edges)+1)}
		for _, row := range r.Rows {
			bin, ok := row[0].Key.(int64)
			if e := row[1].Estimate; ok && e != nil && e.Value != nil && e.StdDev != nil && 0 <= bin && int(bin) < len(h.counts) {
				h.counts[bin], h.sigma = e.Value.Real, *e.StdDev
			}
		}
		return h, nil
	}
}

package tabulate

import (
	"errors"

	"dither/curator"
	"dither/internal/policy"
)

// MaxPairs is the largest number of pairs of cells whose covariances a specification asks for.
const MaxPairs = 100

// Pair names two cells, whose covariance [Plan.Covariances] states.
type Pair [2]CellName

// pairs reads the covariances of a specification. Whether the cells exist is known once the tables are planned.
func (s *Spec) pairs(f policy.Field) {
	if !f.Present() {
		return
	}
	all := f.List()
	if len(all) > MaxPairs {
		f.Fail("", "a specification has covariances of at most %d pairs of cells, not %d", MaxPairs, len(all))
		return
	}
	for _, item := range all {
		cells := item.List()
		if len(cells) != 2 {
			item.Fail("write two cells, such as [{table: t, level: l, place: a}, {table: t, level: l, place: b}]",
				"a covariance is that of two cells")
			continue
		}
		s.Covariances = append(s.Covariances, Pair{cellName(cells[0]), cellName(cells[1])})
	}
}

func cellName(f policy.Field) (c CellName) {
	keys := f.Keys("table", "level", "place", "values")
	c.Table = need(f, keys["table"], "table")
	c.Level, _ = keys["level"].Text()
	c.Place, _ = keys["place"].Text()
	if keys["values"].Present() {
		for _, item := range keys["values"].List() { // two columns may have the same label
			text, _ := item.Text()
			c.Values = append(c.Values, text)
		}
	}
	return c
}

// covariances fills in Covariances, so that a wrong name is refused before anything is paid for.
func (p *Plan) covariances() error {
	for i, pair := range p.spec.Covariances {
		x, err := p.Covariance(pair[0], pair[1])
		if err != nil {
			var e *curator.Error
			if errors.As(err, &e) {
				return misuse(e.Hint, "pair %d of covariances: %s", i+1, e.Message)
			}
			return err
		}
		p.Covariances = append(p.Covariances, x)
	}
	return nil
}

type jsonPair struct {
	Cells      [2]jsonName `json:"cells"`
	Covariance *float64    `json:"covariance"`
}

type jsonName struct {
	Table  string   `json:"table"`
	Level  string   `json:"level,omitempty"`
	Place  string   `json:"place,omitempty"`
	Values []string `json:"values"`
}

func nameOf(c CellName) jsonName {
	return jsonName{c.Table, c.Level, c.Place, append([]string{}, c.Values...)}
}

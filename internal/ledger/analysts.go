package ledger

import "dither/privacy"

// checkAnalyst returns ErrAnalyst for an analyst whom the terms do not list. If the terms list nobody, every
// analyst is accepted.
//
// Analysts' limits protect nobody by themselves, because analysts may share what they learn. Only the budget
// protects people, and every charge counts against it. An analyst's limit counts every price in full, even the
// price of a question that is confined to some parts of a table. A crash can leave a charged fragment of an
// interrupted write. Its charge counts against no analyst's limit, because nobody knows whose reservation was lost
// in it.
func (h *history) checkAnalyst(name string) error {
	if _, known := h.terms.Analysts[name]; !known && len(h.terms.Analysts) > 0 {
		return ErrAnalyst
	}
	return nil
}

// chargeAnalyst adds the price of a reservation to the spending of its analyst.
func (h *history) chargeAnalyst(r Reservation) {
	if r.Analyst == "" {
		return
	}
	if h.analysts[r.Analyst] == nil {
		h.analysts[r.Analyst] = newTally()
	}
	h.analysts[r.Analyst].add(r.Loss)
}

// Asked is an analyst's limit, with the amounts spent and remaining.
type Asked struct {
	Limit     privacy.Loss `json:"limit"`
	Spent     privacy.Loss `json:"spent"`
	Remaining privacy.Loss `json:"remaining"` // of this limit; the budget may leave less
}

func (h *history) askedBy(name string, limit privacy.Loss) Asked {
	f := privacy.NewFilter(limit)
	if t := h.analysts[name]; t != nil {
		f.Record(t.in(h.by()))
	}
	return Asked{Limit: limit, Spent: f.Spent(), Remaining: f.Remaining()}
}

// asked returns the state of every analyst's limit by name, or nil if the terms list no analysts.
func (h *history) asked() map[string]Asked {
	if h.terms == nil || len(h.terms.Analysts) == 0 {
		return nil
	}
	out := map[string]Asked{}
	for name, limit := range h.terms.Analysts {
		out[name] = h.askedBy(name, limit)
	}
	return out
}

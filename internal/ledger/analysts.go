package ledger

import "dither/privacy"

// checkAnalyst refuses an analyst whom the terms do not list. If the terms list nobody, anybody may ask.
//
// Analysts' limits lie within the budget. They protect nobody by themselves, because analysts may share what they
// learn. The budget, which every charge counts against, is the only promise. An analyst's limit counts every price in
// full, even the price of a question about some parts. A fragment counts against no limit, because nobody knows whose
// it was.
func (h *history) checkAnalyst(name string) error {
	if _, known := h.terms.Analysts[name]; !known && len(h.terms.Analysts) > 0 {
		return ErrAnalyst
	}
	return nil
}

// chargeAnalyst adds a price to what its analyst has spent.
func (h *history) chargeAnalyst(r Reservation) {
	if r.Analyst == "" {
		return
	}
	if h.analysts[r.Analyst] == nil {
		h.analysts[r.Analyst] = newTally()
	}
	h.analysts[r.Analyst].add(r.Loss)
}

// Asked is what one analyst has spent, and what remains.
type Asked struct {
	Limit     privacy.Loss `json:"limit"`
	Spent     privacy.Loss `json:"spent"`
	Remaining privacy.Loss `json:"remaining"` // of the limit alone
}

func (h *history) askedBy(name string, limit privacy.Loss) Asked {
	f := privacy.NewFilter(limit)
	if t := h.analysts[name]; t != nil {
		f.Record(t.in(h.by()))
	}
	return Asked{Limit: limit, Spent: f.Spent(), Remaining: f.Remaining()}
}

// asked returns the state of every limit.
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

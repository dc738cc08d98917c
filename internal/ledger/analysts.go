package ledger

import "dither/privacy"

// checkAnalyst admits who is named. Where the terms list nobody, anybody may ask.
//
// Analysts' limits lie within the budget. They protect nobody by themselves: analysts may tell each other what they
// learnt, so that the budget, which every charge counts against, is the only promise. An analyst's limit counts every
// price in full, whatever parts it is about; a fragment, of which nobody knows whose it was, counts against none.
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

// Asked is what one analyst has spent, and may still.
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

// asked is how every limit stands.
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

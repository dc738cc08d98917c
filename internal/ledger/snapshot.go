package ledger

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"
	"time"

	"dither/privacy"
)

// snapshot is the state at a checkpoint place: everything in a history except what the index holds. Its encoding is
// JSON with the keys in this order, sorted maps and exact numbers. So the entries before the checkpoint place
// determine its encoding byte for byte.
//
// TestSnapshotHasAll fails if a field of history is missing here. Give a new field the option omitempty, because
// the digests of older checkpoints are of encodings without it.
type snapshot struct {
	Tip     Head      `json:"tip"`
	End     int64     `json:"end"`  // offset of the end of Tip's line, without its newline
	Line    uint64    `json:"line"` // number of Tip's line in the file
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Clock   time.Time `json:"clock"`
	Issued  []span    `json:"issued"` // present even without grants, because later terms may grant again
	Closed  []span    `json:"closed"`

	Terms    *Terms                `json:"terms"`
	Impure   bool                  `json:"impure"`
	Charges  accountText           `json:"charges"`
	Period   *periodText           `json:"period"` // nil without grants
	Analysts map[string]tallyText  `json:"analysts"`
	Origins  []string              `json:"origins"`
	Sealed   map[string]Seal       `json:"sealed"`
	Versions []Source              `json:"versions"`
	Waiting  []waitingText         `json:"waiting"`
	Lost     losingText            `json:"lost"`
	TornLoss tallyText             `json:"torn_loss"`
	GivenUp  map[string]int        `json:"given_up_by"`
	Counts   [numbersOfCounts]uint `json:"counts"` // numbers of reservations, answers, failures and charged fragments

	Abandoned []uint64 `json:"abandoned,omitempty"` // cancelled reservations that do not count towards a limit, sorted
}

const numbersOfCounts = 4

type accountText struct {
	Whole tallyText      `json:"whole"`
	Parts []dividedTexts `json:"parts"`
}

type dividedTexts struct {
	Source  Source               `json:"source"`
	Parting Parting              `json:"parting"`
	Total   tallyText            `json:"total"`
	Of      map[string]tallyText `json:"of"`
}

type periodText struct {
	Start time.Time   `json:"start"`
	In    accountText `json:"in"`
}

// tallyText is the encoding of a tally: ε of its pure losses, then ρ and δ of all its losses.
type tallyText [3]ratText

// waitingText is the encoding of the open reservations with the same price (ε, or ρ and δ), the same analyst and
// the same Told.
type waitingText struct {
	Loss []ratText `json:"loss"`
	Told bool      `json:"told"`
	By   string    `json:"by"` // the analyst
	Of   []uint64  `json:"of"`
}

type losingText struct {
	Failed  int        `json:"failed"`
	GivenUp int        `json:"given_up"`
	Sum     [3]ratText `json:"sum"` // ε, ρ and δ of the total
}

// ratText is the encoding of a non-negative rational number of any length.
type ratText struct{ *big.Rat }

func (r ratText) MarshalText() ([]byte, error) { return []byte(r.RatString()), nil }

func (r *ratText) UnmarshalText(text []byte) error {
	x, ok := new(big.Rat).SetString(string(text))
	if !ok || x.Sign() < 0 || x.RatString() != string(text) {
		return errSnapshot
	}
	r.Rat = x
	return nil
}

var errSnapshot = errors.New("the recorded state is unreadable")

func textOf(t *tally) tallyText {
	pure, zcdp := amounts(t.pure), amounts(t.zcdp)
	return tallyText{{pure[0]}, {zcdp[0]}, {zcdp[1]}}
}

func (t tallyText) tally() (*tally, error) {
	for _, r := range t {
		if r.Rat == nil {
			return nil, errSnapshot
		}
	}
	if t[2].Cmp(big.NewRat(1, 1)) > 0 {
		return nil, errSnapshot
	}
	return &tally{
		pure: lossOf(privacy.Pure, []*big.Rat{t[0].Rat}),
		zcdp: lossOf(privacy.ZCDP, []*big.Rat{t[1].Rat, t[2].Rat}),
	}, nil
}

func textOfAccount(a *account) accountText {
	out := accountText{Whole: textOf(a.whole), Parts: []dividedTexts{}}
	for d, in := range a.parts {
		t := dividedTexts{Source: d.source, Parting: d.parting, Total: textOf(in.total), Of: map[string]tallyText{}}
		for p, charged := range in.of {
			t.Of[p] = textOf(charged)
		}
		out.Parts = append(out.Parts, t)
	}
	slices.SortFunc(out.Parts, func(x, y dividedTexts) int {
		return cmp.Or(cmp.Compare(x.Source.Table, y.Source.Table), cmp.Compare(x.Source.Version, y.Source.Version),
			cmp.Compare(x.Parting.Term, y.Parting.Term), cmp.Compare(x.Parting.Most, y.Parting.Most))
	})
	return out
}

func (t accountText) account() (*account, error) {
	whole, err := t.Whole.tally()
	if err != nil {
		return nil, err
	}
	out := &account{whole: whole, parts: map[division]*divided{}}
	for _, p := range t.Parts {
		in := &divided{of: map[string]*tally{}, known: map[reading]bound{}}
		if in.total, err = p.Total.tally(); err != nil {
			return nil, err
		}
		for name, charged := range p.Of {
			if in.of[name], err = charged.tally(); err != nil {
				return nil, err
			}
		}
		out.parts[division{p.Source, p.Parting}] = in
	}
	return out, nil
}

// snapshot returns the encoded state after the newest entry, whose position is the parameter `at`.
func (h *history) snapshot(at ref) []byte {
	s := snapshot{
		Tip: h.last, End: at.offset + int64(at.length), Line: at.line, ID: h.id, Created: h.created.UTC(),
		Clock:  h.clock.UTC(),
		Issued: append([]span{}, h.issued...), Closed: append([]span{}, h.closed...), GivenUp: h.givenUpBy,
		Terms: h.terms, Impure: h.impure, Charges: textOfAccount(h.charges), Analysts: map[string]tallyText{},
		Origins: slices.Sorted(maps.Keys(h.origins)), Sealed: h.sealed,
		Versions: slices.SortedFunc(maps.Keys(h.versions), func(x, y Source) int {
			return cmp.Or(cmp.Compare(x.Table, y.Table), cmp.Compare(x.Version, y.Version))
		}),
		Waiting: h.waitingTexts(), Abandoned: slices.Sorted(maps.Keys(h.abandoned)), TornLoss: textOf(h.tornLoss),
		Lost: losingText{
			Failed: h.lost.failed, GivenUp: h.lost.givenUp,
			Sum: [3]ratText{{h.lost.pure.Rat()}, {h.lost.rho.Rat()}, {new(big.Rat).Set(h.lost.delta)}},
		},
		Counts: [numbersOfCounts]uint{uint(h.reservations), uint(h.answered), uint(h.failures), uint(h.torn)},
	}
	for name, t := range h.analysts {
		s.Analysts[name] = textOf(t)
	}
	if h.terms != nil && h.terms.Grant != nil {
		s.Period = &periodText{h.period.UTC(), textOfAccount(h.inPeriod)}
	}
	text, err := marshal(s)
	if err != nil { // impossible: only a date outside the years 0 to 9999 fails, and no entry has one
		return nil
	}
	return text
}

// waitingTexts groups the open reservations by price, analyst and Told.
func (h *history) waitingTexts() []waitingText {
	type same struct {
		loss, by string
		told     bool
	}
	at := map[same]int{}
	out := []waitingText{}
	for _, index := range slices.Sorted(maps.Keys(h.waiting)) {
		w := h.waiting[index]
		k := same{w.loss.String(), w.analyst, w.told}
		i, known := at[k]
		if !known {
			i = len(out)
			at[k] = i
			var loss []ratText
			for _, x := range amounts(w.loss) {
				loss = append(loss, ratText{x})
			}
			out = append(out, waitingText{Loss: loss, Told: w.told, By: w.analyst})
		}
		out[i].Of = append(out[i].Of, index)
	}
	return out
}

// historyOf returns the history that a snapshot encodes. It lacks the positions and answers of the entries, which
// the index holds.
func historyOf(text []byte, every cadence) (*history, *snapshot, error) {
	var s snapshot
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&s) != nil || s.Tip == (Head{}) && s.ID == "" || s.End < 0 {
		return nil, nil, errSnapshot
	}
	h := newHistory(every)
	h.base, h.last, h.hasLast, h.tipEnd = s.Tip.Index+1, s.Tip, true, s.End
	h.id, h.created, h.clock, h.terms, h.impure = s.ID, s.Created, s.Clock, s.Terms, s.Impure
	h.issued, h.closed = s.Issued, s.Closed
	h.reservations, h.answered, h.failures, h.torn = int(s.Counts[0]), int(s.Counts[1]), int(s.Counts[2]),
		int(s.Counts[3])
	h.passed = passed{entries: h.base, end: s.End}
	var err error
	if h.charges, err = s.Charges.account(); err != nil {
		return nil, nil, err
	}
	if h.tornLoss, err = s.TornLoss.tally(); err != nil {
		return nil, nil, err
	}
	if s.Period != nil {
		h.period = s.Period.Start
		if h.inPeriod, err = s.Period.In.account(); err != nil {
			return nil, nil, err
		}
	}
	for name, t := range s.Analysts {
		if h.analysts[name], err = t.tally(); err != nil {
			return nil, nil, err
		}
	}
	for _, id := range s.Origins {
		h.origins[id] = true
	}
	for _, v := range s.Versions {
		h.versions[v] = true
	}
	if s.Sealed != nil {
		h.sealed = s.Sealed
	}
	if s.GivenUp != nil {
		h.givenUpBy = s.GivenUp
	}
	for _, i := range s.Abandoned {
		if i >= h.base {
			return nil, nil, errSnapshot
		}
		h.abandoned[i] = true
	}
	return h, &s, h.wait(&s)
}

// wait restores from a snapshot the open reservations, and the total loss of reservations without an answer.
func (h *history) wait(s *snapshot) error {
	for _, w := range s.Waiting {
		by := privacy.Pure
		var of []*big.Rat
		for _, x := range w.Loss {
			of = append(of, x.Rat)
		}
		switch len(of) {
		case 1:
		case 2:
			by = privacy.ZCDP
		default:
			return errSnapshot
		}
		if slices.Contains(of, nil) {
			return errSnapshot
		}
		loss := lossOf(by, of)
		for _, index := range w.Of {
			if index >= h.base {
				return errSnapshot
			}
			h.waiting[index] = &waiting{loss: loss, told: w.Told, analyst: w.By}
			if !w.Told {
				h.lost.open++
			}
		}
	}
	var err error
	if h.lost.pure, err = privacy.EpsilonOf(s.Lost.Sum[0].Rat); err == nil {
		h.lost.rho, err = privacy.RhoOf(s.Lost.Sum[1].Rat)
	}
	if err != nil || s.Lost.Sum[2].Rat == nil {
		return errSnapshot
	}
	h.lost.failed, h.lost.givenUp, h.lost.delta = s.Lost.Failed, s.Lost.GivenUp, s.Lost.Sum[2].Rat
	return nil
}

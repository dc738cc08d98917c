package curator

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"dither/internal/ledger"
	"dither/internal/policy"
	"dither/internal/release"
	"dither/privacy"
)

// RecoverOptions hold what the owner has kept outside the home about a ledger whose file was lost.
type RecoverOptions struct {
	Against string // the newest output of `dither ledger head` that was kept
	Spent   string // the loss spent, if known: an ε; or ρ, or ρ,δ, for a zCDP budget
}

// Recovered describes what RecoverLedger did.
type Recovered struct {
	Lost          string // "head" or "log"
	Spent, Budget Loss
	Lines         []string // the same in words, for the owner
}

// RecoverLedger restores a ledger after ledger.head or ledger.log was lost. It writes a lost head again if the
// log's chain is intact. It begins a lost log anew under the policy file; the tables must then be sealed again. Any
// loss that may have been spent and is no longer known counts as spent. Without options, that is the whole budget.
func RecoverLedger(home string, o RecoverOptions) (*Recovered, error) {
	usage := func(message, hint string) error { return &Error{Code: CodeUsage, Message: message, Hint: hint} }
	home, err := absolute(home)
	if err != nil {
		return nil, err
	}
	lost, err := ledger.Missing(home)
	if err != nil {
		return nil, toOwner(err)
	}
	if lost == "" {
		return nil, usage(ledger.ErrNotLost.Error(), "run `dither ledger verify` to check both files")
	}
	p, err := policy.Load(filepath.Join(home, policy.FileName))
	if err != nil {
		return nil, homeError(err)
	}
	spent, err := parseSpent(p, o.Spent)
	if err != nil {
		return nil, err
	}
	var against *ledger.Head
	if o.Against != "" {
		h, err := ledger.ParseHead(o.Against)
		if err != nil {
			return nil, usage(err.Error(), "give the line that `dither ledger head` printed")
		}
		against = &h
	}
	c, s := &Session{house: &house{home: home, policy: p}}, ledger.State{}
	out := &Recovered{Lost: lost}
	switch {
	case lost == ledger.LostHead:
		if s, err = ledger.RecoverHead(home, against, spent, time.Now); err == nil {
			out.Lines = append(out.Lines, fmt.Sprintf("rewrote ledger.head, for %d entries", s.Head.Index+1))
		}
	case against != nil:
		return nil, usage(
			"a head does not show what the lost ledger had spent",
			"give the amount that was spent with --spent, if you know it",
		)
	default:
		if s, err = ledger.RecoverLog(home, release.NewID(), terms(p, ledger.Terms{}), spent, time.Now); err == nil {
			out.Lines = append(
				out.Lines,
				"began a new ledger.log, under the policy file",
				"run `dither seal` to record the sealed versions in it; earlier answers are lost",
			)
		}
	}
	if err != nil {
		return nil, toOwner(err)
	}
	if against == nil && spent == nil {
		out.Lines = append(
			out.Lines,
			"neither a head nor an amount was given: the whole budget counts as spent, unless the owner raises it",
		)
	}
	out.Spent, out.Budget = c.account(s.Spent), c.declared()
	out.Lines = append(out.Lines, fmt.Sprintf("spent %v of %v", out.Spent, out.Budget))
	return out, nil
}

// parseSpent reads a loss in the terms of the policy's budget. It returns nil for "".
func parseSpent(p *policy.Policy, text string) (*privacy.Loss, error) {
	if text == "" {
		return nil, nil
	}
	if p.Budget.Loss.Accountant() == privacy.Pure {
		e, err := privacy.ParseEpsilon(text)
		if err != nil {
			return nil, &Error{
				Code:    CodeUsage,
				Message: "invalid amount spent: " + err.Error(),
				Hint:    "give an ε, such as 1.25",
				cause:   err,
			}
		}
		loss := privacy.PureLoss(e)
		return &loss, nil
	}
	of, beside, two := strings.Cut(text, ",")
	rho, err := privacy.ParseRho(of)
	var delta privacy.Delta
	if two {
		var wrong error
		delta, wrong = parseDelta(strings.TrimSpace(beside))
		err = errors.Join(err, wrong)
	}
	if err != nil {
		return nil, &Error{
			Code:    CodeUsage,
			Message: "invalid amount spent: " + err.Error(),
			Hint:    "give ρ, or ρ,δ, such as 0.01,0.00001",
			cause:   err,
		}
	}
	loss := privacy.ZCDPLoss(rho, delta)
	return &loss, nil
}

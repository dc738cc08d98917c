// Package account computes the privacy loss of a job: a list of mechanisms that are all fixed in advance, and run
// on the same data. It reports the figures of every known accountant side by side. It never enforces a budget.
//
// Which accountant may enforce a budget. An analyst who spends a budget chooses each mechanism and its parameters
// after seeing the earlier answers. Only a filter may admit such mechanisms. privacy.Filter is a filter: for the
// plain sum of ε [Rogers, Roth, Ullman & Vadhan 2016], or the sum of ρ of approximate zCDP [Feldman & Zrnic 2021;
// Whitehouse, Ramdas, Rogers & Wu 2023], with the proof in its doc comment. privacy.Odometer reports the loss at a
// stopping time that may depend on the answers.
//
// Why the other accountants may only report. These are advanced composition with its constant, optimal composition
// [Kairouz, Oh & Viswanath 2017; Murtagh & Vadhan 2016], privacy loss distributions, and Rényi divergence at its
// best order. Each takes all parameters as given and computes the joint δ(ε) from them. Their theorems do not cover
// an adversary who chooses the next parameter after seeing an answer. (With adaptive parameters, the loss can
// exceed the bound of advanced composition [Rogers et al. 2016, Section 5]. And the Rényi order that is best for
// the spent loss is known only after the spending.)
//
// For a job that is fixed, taking the least of several bounds is right, because each holds for the whole job. While
// a budget is spent, the least bound is no filter. The least bounds at two times may come from different theorems,
// whose failure probabilities δ belong to different events.
//
// What is reported. Every figure is certified: an upper bound is a float64 that is rounded up, by directed or
// interval arithmetic, or with a bounded error added. A lower bound is rounded down, and the true value lies
// between the two. Parameters are exact rationals (privacy.Epsilon, *big.Rat), never floats.
//
// Relations. A loss is a statement about neighbouring datasets, and a job has one neighbouring relation. Poisson
// sampling amplifies under add/remove. Sampling of a fixed number and shuffling amplify under change-one. Each
// function names its relation. Every sensitivity and every ε must hold under the job's relation.
package account

import "errors"

// ErrParameter reports a parameter that a mechanism or theorem does not allow, or that is outside the limits of the
// computation.
var ErrParameter = errors.New("account: invalid parameter")

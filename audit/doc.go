// Package audit checks promises of differential privacy by running mechanisms: dither's own and any others.
//
// There are three kinds of checks, and an interpretation of what they check:
//
//   - An interpretation (package interpret) states what a promise means if it is kept.
//   - Exact checks (package channel) prove or refute the promise of a finite mechanism.
//   - Audits of runs ([Run]) can only refute a promise. They return a lower bound on ε with a stated confidence. An
//     audit that finds nothing has proved nothing.
//   - [Replay] fixes the randomness, so its result is exact, but only for the two datasets that it compares.
//
// Package ours contains dither's own mechanisms in the form that these checks need. Package attack shows how data
// that is published without a promise can be attacked.
package audit

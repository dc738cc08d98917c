// Package audit checks the promise of differential privacy instead of believing it: of dither's mechanisms, and of anybody's.
//
// What it tells is of three kinds, and they must not be confused. Reading (Meaning, Posterior) says what a promise means if it
// is kept. Exact checks (package audit/channel, for mechanisms with finitely many inputs and outputs) prove or refute a promise. Audits
// of runs (Run) can only refute: they give a lower bound on ε that holds with a stated confidence, and an audit that finds
// nothing has proved nothing. Replay lies between: it fixes the noise, so what it shows of two data sets is exact, of those two.
package audit

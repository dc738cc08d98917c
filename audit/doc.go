// Package audit checks the promise of differential privacy by running mechanisms: dither's, and anybody's.
//
// Four kinds of checking stand beside each other, and must not be confused. Reading a promise (package interpret) says
// what it means if it is kept. Exact checks (package channel, of finite mechanisms) prove or refute it. Audits of runs
// (Run) can only refute it: they give a lower bound on ε that holds with a stated confidence, and one that finds
// nothing has proved nothing. Replay lies between: it fixes the randomness, so what it shows of two data sets is exact,
// of those two. Package ours has dither's own mechanisms for all of them, and package attack what becomes of data where
// nothing is promised.
package audit

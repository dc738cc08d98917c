// Package synth makes synthetic tables: rows of made-up people that have the measured statistics of a real table.
//
// [Synthesize] selects and measures marginals through the kernel, with noise and under one price ([curator.Session.Rounds]).
// It fits a distribution to the measurements (package model), and draws rows from it. Everything after the measurements is
// post-processing of released numbers, so synthetic rows lose nothing more. The package sees no row of the real table.
//
// The methods are AIM, MST, MWEM and independent columns.
//
// Sources: McKenna, Mullins, Sheldon and Miklau, "AIM: an adaptive and iterative mechanism for differentially private
// synthetic data", VLDB 2022. McKenna, Miklau and Sheldon, "Winning the NIST contest: a scalable and general approach to
// differentially private synthetic data", Journal of Privacy and Confidentiality 2021 (MST).
package synth

// Package stats is the entrance to the statistical packages, which compute from a curator's releases:
//
//   - stats/estimate: means, variances, quantiles, covariances and correlations of a table's columns;
//   - stats/regression: linear, logistic and Poisson regression, models trained with noisy gradients, calibration;
//   - stats/cluster: k-means;
//   - stats/formula: the model formulas of regressions.
//
// Each method asks the curator for measurements, at a price, and computes from their releases. No package here can read
// rows or spend budget but through the curator. A method that makes several accesses to the rows has one price, and
// divides it beforehand. It begins only if the remaining budget covers all of it. Each method has a function that
// states its price and the expected error, free.
//
// Errors are *curator.Error, and name the releases that were paid before them. A result that noise makes unusable, such
// as a variance below 0, comes with a warning, which depends on the releases alone. No result is NaN or infinite.
package stats

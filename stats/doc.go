// Package stats is the entrance to the statistical packages, which compute from a curator's releases:
//
//   - stats/estimate: means, variances, quantiles, covariances and correlations of a table's columns;
//   - stats/regression: linear, logistic and Poisson regression, models trained with noisy gradients, calibration;
//   - stats/cluster: k-means;
//   - stats/formula: the model formulas of regressions.
//
// Each method asks the curator for measurements, at a price, and computes from their releases. The packages reach
// the rows and the budget only through the curator. A method that makes several accesses to the rows has one price,
// which it divides among them beforehand. It starts only if the remaining budget covers the whole price. Each
// method except regression.SearchGLM has a function that states its price and the expected error, free.
//
// Errors are *curator.Error. The error of an access names the releases that the method had already paid for. A
// result that noise makes unusable, such as a negative variance, comes with a warning, which depends only on the
// releases. No result is NaN or infinite.
package stats

// Package stats holds statistical estimates and regression models for tables that a curator guards. Each method asks the kernel for measurements, at a price,
// and computes from their releases. Nothing here can read rows or spend budget but through the curator. Clusters are in stats/cluster, and model
// formulas in stats/formula.
//
// Mean, Variance, Quantile and Covariance estimate statistics of a Sample. Each has a Plan… that states the method, the price and the expected error beforehand.
//
// FitLinear fits a linear regression by least squares or by Theil and Sen's method. FitGLM fits a logistic or Poisson model by a perturbed minimum; SearchGLM
// chooses among several models, and TryGLM among regularisers. FitGradients trains models and networks with noisy gradients. Calibrate compares a
// logistic model's predictions with observed rates. Each has an Explain… that states its price, free.
//
// A method with several accesses to the rows has one price, and divides it beforehand. It begins only if the remaining budget covers all of it. An error names
// the releases that were paid before it.
//
// Errors are *curator.Error. A result that noise makes unusable, such as a variance below 0, comes with a warning in words, which is a function of the releases.
// No result is NaN or infinite.
package stats

// Package stats holds the estimates and models of statistics, for tables that a curator guards. Each asks the kernel for measurements, at a
// price, and computes from what was released: nothing here sees a row, and nothing here can spend or look but through
// the curator.
//
// Estimates of a Sample are Mean, Variance, Quantile and Covariance; each has a Plan… that tells the method, the price and the error beforehand.
//
// Models are FitLinear, a linear regression by least squares or by Theil and Sen's method; FitGLM, a logistic or Poisson model by a perturbed minimum, with SearchGLM among
// several and TryGLM among regularisers; FitGradients, models and networks trained by noisy gradients; and KMeans. What a logistic model predicts is held to what is
// observed by Calibrate. Each has an Explain… that tells what it would cost, free. A Formula says what is modelled by what, and its Design how columns become predictors.
//
// What several looks make up has one price, divided among them beforehand: all of it is made sure of before the first, and what was paid before an error is named in it.
//
// Errors are *curator.Error. What is computed from noisy numbers may come out unusable, as a variance below 0: that is told in words beside the
// answer, a function of what was released, and no result is NaN or infinite.
package stats

// Package marginal chooses what to measure for many marginals: counts by several attributes at once, such as age by
// sex, all others summed out. Each attribute has plain values, prefixes or ranges. A domain may have more cells than
// any computer can hold, because no matrix has more rows than one attribute has values.
//
// [Domain.Ways] and [Domain.Marginals] make a [Workload]. [Workload.Choose] compares strategies by their exact expected
// errors before anything is spent, beside a certified lower bound. A [Plan] measures, for each subset A of attributes,
// the part of A's marginal that smaller subsets do not determine. These parts are orthogonal, so every marginal is a
// sum of independent measurements.
//
// Source: Xiao, He, Zhang and Kifer, "An optimal and scalable matrix mechanism for noisy marginals under convex loss
// functions", NeurIPS 2023.
package marginal

// Package reconstruct estimates marginals from noisy measurements of marginals in closed form. It divides each
// measurement into independent residuals, and combines those of several measurements by their inverse variances. The
// result is the estimate of maximum likelihood under Gaussian noise. It is unbiased, may be negative, and takes far
// less time than a fit of package model.
//
// The package computes with released numbers and sees no rows. No command uses it yet.
//
// Source: Mullins, Fuentes, Xiao, Kifer, Musco and Sheldon, "Efficient and private marginal reconstruction with local
// non-negativity", NeurIPS 2024 ("GReM-MLE").
package reconstruct

// Package posterior draws distributions from the posterior of a model of a table, given noisy marginals.
//
// The model is a junction tree of cliques. A row falls into a cell of the first clique, and then into a cell of each later
// clique given the attributes that the clique shares with its parent. Each of these conditional distributions has the prior
// Dirichlet(½, …, ½). The number of rows has a flat prior, so it need not be public: the noisy cells determine it. If the
// measured marginals are the cliques of a decomposable graph, such as a tree of pairs, this is the log-linear family of
// maximum entropy. Otherwise the prior alone determines the interactions that no marginal has.
//
// The latent variables are the real counts of the cliques. With the conditional distributions integrated out, the real
// conditional shares have Dirichlet-multinomial distributions. The package uses their continuous form, the Dirichlet
// distribution, which is accurate if the noise is wider than a count. The likelihood of the noise is exact up to its
// rounding to integers. Hamiltonian Monte Carlo draws the counts; it needs no matrix of all cells. Given the counts, the
// conditional distributions are independent Dirichlet distributions, drawn exactly. So a draw has the uncertainty of the noise
// and of the sampling of people.
//
// Everything here computes with released numbers, so it cannot break privacy.
//
// Sources: Räisä, Jälkö, Kaski and Honkela, "Noise-aware statistical inference with differentially private synthetic data",
// AISTATS 2023 (NAPSU-MQ), for noise-aware synthetic data. Bernstein and Sheldon, "Differentially private Bayesian inference
// for exponential families", NeurIPS 2018, for latent counts. Hoffman and Gelman, "The No-U-Turn sampler", Journal of
// Machine Learning Research 2014, for the adaptation of steps.
package posterior

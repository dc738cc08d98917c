// Package model fits a probability distribution over many discrete attributes to noisy measurements of its marginals.
//
// [Fit] takes measurements, such as the noisy counts by age and sex. It returns the [Model] of maximum entropy among
// the distributions that minimise the weighted sum of squared errors. A model is a junction tree: its memory depends on
// the sets of attributes that were measured together ([Size]), not on the number of cells of the domain. A model
// states any marginal and draws rows.
//
// The package computes with released numbers and sees no rows, so nothing in it can break privacy. Package synth
// uses it.
//
// Source: McKenna, Sheldon and Miklau, "Graphical-model based estimation and inference for differential privacy",
// ICML 2019.
package model

// Package table fits noisy tables to each other so that they add up, over a hierarchy such as counties, states and the
// country, times classifications such as sex and age. It works on released numbers alone, so all of it is
// post-processing and costs nothing.
//
//   - [Choose] divides the price among the tables that can be measured, by the exact expected error.
//   - [NewFit] computes the least-squares estimate of every cell, and [Accuracy] its variance.
//   - [NewWhole] rounds the estimates to integers that add up exactly.
package table

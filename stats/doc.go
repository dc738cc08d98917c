// Package stats holds the estimates and models of statistics, for tables that a curator guards. Each asks the kernel for measurements, at a
// price, and computes from what was released: nothing here sees a row, and nothing here can spend or look but through
// the curator.
//
// Errors are *curator.Error. What is computed from noisy numbers may come out unusable, as a variance below 0: that is told in words beside the
// answer, a function of what was released, and no result is NaN or infinite.
package stats

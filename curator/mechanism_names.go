package curator

import "dither/internal/release"

// Mechanisms that a Selection may name.
const (
	Exponential    = release.Exponential    // under zCDP it costs a quarter of the others
	PermuteAndFlip = release.PermuteAndFlip // under a pure ε never worse; for one group alone
	NoisyMax       = release.NoisyMax       // and by how much, at no further cost
)

// Mechanisms that Quantiles may name.
const (
	EachQuantile       = release.EachQuantile       // the only one with a bound that holds for all data
	RecursiveQuantiles = release.RecursiveQuantiles // by recursion: for many quantiles of values that seldom repeat
	JointQuantiles     = release.JointQuantiles     // over some thousand bins of the domain
)

// SmoothSensitivity is the mechanism of a Median.
const SmoothSensitivity = release.SmoothSensitivity

// SparseVector is the mechanism of a Stream.
const SparseVector = release.SparseVector

// OutputPerturbation is the mechanism of a Minimum.
const OutputPerturbation = release.OutputPerturbation

// TheilSen is the mechanism of a FittedLine.
const TheilSen = release.TheilSen

// SubsampledGaussian is the mechanism of a Trainer.
const SubsampledGaussian = release.SubsampledGaussian

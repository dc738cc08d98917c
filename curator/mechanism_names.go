package curator

import "dither/internal/release"

// Mechanisms that a [Selection] may name.
const (
	// chooses any number of groups. Under zCDP its loss is a quarter of that of the others
	Exponential    = release.Exponential
	PermuteAndFlip = release.PermuteAndFlip // chooses one group only. Under a pure ε it is never worse than Exponential
	NoisyMax       = release.NoisyMax       // it also releases the lead of each chosen group, at no further cost
)

// Mechanisms that [Quantiles] may name.
const (
	// each quantile by itself. Only this mechanism has an error bound that holds for all data
	EachQuantile       = release.EachQuantile
	RecursiveQuantiles = release.RecursiveQuantiles // for many quantiles of values that seldom repeat
	// those of RecursiveQuantiles, and the half-width of an interval around each. The intervals hold for all data
	LadderQuantiles = release.LadderQuantiles
	JointQuantiles  = release.JointQuantiles // all quantiles together, over some thousand bins of the domain
)

// SmoothSensitivity is the mechanism of a [Median].
const SmoothSensitivity = release.SmoothSensitivity

// SparseVector is the mechanism of a [Stream].
const SparseVector = release.SparseVector

// OutputPerturbation is the mechanism of a [Minimum].
const OutputPerturbation = release.OutputPerturbation

// ObjectivePerturbation is the mechanism of a [PerturbedMinimum].
const ObjectivePerturbation = release.ObjectivePerturbation

// NewtonStep is the mechanism of [Derivatives].
const NewtonStep = release.NewtonStep

// TheilSen is the mechanism of a [FittedLine].
const TheilSen = release.TheilSen

// SubsampledGaussian is the mechanism of a [Trainer].
const SubsampledGaussian = release.SubsampledGaussian

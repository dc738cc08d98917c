package release

// Mechanisms that a [Selection] may name.
const (
	// chooses any number of groups. Under zCDP its loss is a quarter of that of the others
	Exponential = "exponential mechanism"
	// chooses one group only. Under a pure ε it is never worse than Exponential
	PermuteAndFlip = "permute and flip"
	NoisyMax       = "report noisy max" // it also releases the lead of each chosen group, at no further cost
)

// Mechanisms that [Quantiles] may name.
const (
	// each quantile by itself. Only this mechanism has an error bound that holds for all data
	EachQuantile       = "exponential mechanism for each"
	RecursiveQuantiles = "approximate quantiles" // for many quantiles of values that seldom repeat
	// those of RecursiveQuantiles, and the half-width of an interval around each. The intervals hold for all data
	LadderQuantiles = "approximate quantiles with half-widths"
	// all quantiles together, over some thousand bins of the domain
	JointQuantiles = "joint exponential mechanism"
)

// SmoothSensitivity is the mechanism of a [Median].
const SmoothSensitivity = "smooth sensitivity"

// SparseVector is the mechanism of a [Stream].
const SparseVector = "sparse vector"

// OutputPerturbation is the mechanism of a Minimum.
const OutputPerturbation = "output perturbation"

// ObjectivePerturbation is the mechanism of a [Perturbed] minimum.
const ObjectivePerturbation = "objective perturbation"

// NewtonStep is the mechanism of [Derivatives].
const NewtonStep = "newton step"

// TheilSen is the mechanism of a [Line].
const TheilSen = "theil-sen"

// SubsampledGaussian is the mechanism of a [Training].
const SubsampledGaussian = "subsampled gaussian"

// ContinualCounts is the mechanism of a [Continual].
const ContinualCounts = "continual counts"

// AdaptiveRounds is the mechanism of a [Rounds].
const AdaptiveRounds = "adaptive rounds"

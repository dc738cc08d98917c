package release

// Mechanisms that a Selection may name.
const (
	Exponential    = "exponential mechanism" // under zCDP it costs a quarter of the others
	PermuteAndFlip = "permute and flip"      // under a pure ε never worse; for one group alone
	NoisyMax       = "report noisy max"      // and by how much, at no further cost
)

// Mechanisms that Quantiles may name.
const (
	EachQuantile       = "exponential mechanism for each" // the only one with a bound that holds for all data
	RecursiveQuantiles = "approximate quantiles"          // by recursion: for many quantiles of values that seldom repeat
	JointQuantiles     = "joint exponential mechanism"    // over some thousand bins of the domain
)

// SmoothSensitivity is the mechanism of a Median.
const SmoothSensitivity = "smooth sensitivity"

// SparseVector is the mechanism of a Stream.
const SparseVector = "sparse vector"

// OutputPerturbation is the mechanism of a Minimum.
const OutputPerturbation = "output perturbation"

// TheilSen is the mechanism of a FittedLine.
const TheilSen = "theil-sen"

// SubsampledGaussian is the mechanism of a Trainer.
const SubsampledGaussian = "subsampled gaussian"

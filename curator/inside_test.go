package curator

import "dither/internal/release"

// inside is the kernel of a curator, opened; of nil, what all kernels share.
func inside(c *Owner) release.Inside {
	if c == nil {
		return release.OpenForTests(nil)
	}
	return release.OpenForTests(c.kernel)
}

// insideTraining is the kernel's part of a training, opened.
func insideTraining(t *Trainer) release.InsideTraining {
	return release.OpenTrainingForTests(t.training)
}

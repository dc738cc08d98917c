package plan

import (
	"dither/internal/policy"
)

// Rewritten is a measure's text as it is now, whatever was kept of it.
func Rewritten(m *Measure) string {
	own := *m
	own.text = ""
	return own.String()
}

// PhaseResults returns the results of the first n phases of planning a question, or fewer if a phase refuses the question.
func PhaseResults(p *policy.Policy, r Request, n int) (out []any) {
	phases := []func(any) (any, error){
		anyPhase(func(j *job) (*question, error) { return read(*j) }), anyPhase(bindKeys), anyPhase(measure), anyPhase(boundUnits), anyPhase(writeStatements),
		anyPhase(dividePrice), anyPhase(chooseNoise), anyPhase(admit),
	}
	var of any = &job{policy: p, original: r, unknownKeys: true}
	for _, phase := range phases[:min(n, len(phases))] {
		next, err := phase(of)
		if err != nil {
			return out
		}
		out, of = append(out, next), next
	}
	return out
}

func anyPhase[A, B any](phase func(*A) (*B, error)) func(any) (any, error) {
	return func(of any) (any, error) { return phase(of.(*A)) }
}

package plan

// build plans a question in phases. Each phase is a function from the result of the phase before it to its own
// result, which holds its decisions and points to the earlier result. A phase reads earlier results and never
// writes to them. The working state of a phase has a type of its own, whose name ends in -ing. Package bind
// resolves names for the first four phases.
func build(j job) (*Plan, error) {
	question, err := read(j)
	keyed, err := next(bindKeys, question, err)
	measured, err := next(measure, keyed, err)
	capped, err := next(boundUnits, measured, err)
	stated, err := next(writeStatements, capped, err)
	priced, err := next(dividePrice, stated, err)
	noisy, err := next(chooseNoise, priced, err)
	return next(admit, noisy, err)
}

// next runs a phase on `of`, the result of the phase before it, or returns err if err is not nil.
func next[A, B any](phase func(*A) (*B, error), of *A, err error) (*B, error) {
	if err != nil {
		return nil, err
	}
	return phase(of)
}

// unless returns the result, or err if it is not nil.
func unless[A any](result *A, err error) (*A, error) {
	if err != nil {
		return nil, err
	}
	return result, nil
}

// run runs the steps in order until one returns an error.
func run(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

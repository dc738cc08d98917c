package curator

// unusable returns the *Error for a mechanism that refused its parameters. The parameters come from the policy and
// the question.
func unusable(err error) *Error {
	return &Error{
		Code:    CodePolicy,
		Message: err.Error(),
		Hint:    "ask for a larger --epsilon, or narrower bounds",
		cause:   err,
	}
}

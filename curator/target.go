package curator

// unusable is a mechanism's refusal of its parameters, which come from the policy and the question.
func unusable(err error) *Error {
	return &Error{
		Code:    CodePolicy,
		Message: err.Error(),
		Hint:    "ask for a larger --epsilon, or narrower bounds",
		cause:   err,
	}
}

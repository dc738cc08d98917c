package curator

// withoutAccuracy refuses an accuracy in place of a price.
func (q Question) withoutAccuracy() error {
	if q.Within != "" || q.At != "" {
		return &Error{Code: CodeUsage, Message: "an accuracy is for tables of noisy numbers", Hint: "give a price, and the confidence by its name"}
	}
	return nil
}

// unusable is a mechanism's refusal of its parameters, which come from the policy and the question.
func unusable(err error) *Error {
	return &Error{Code: CodePolicy, Message: err.Error(), Hint: "ask for a larger --epsilon, or narrower bounds", cause: err}
}

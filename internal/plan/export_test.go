package plan

// Rewritten is a measure's text as it is now, whatever was kept of it.
func Rewritten(m *Measure) string {
	own := *m
	own.text = ""
	return own.String()
}

package request

import "testing"

// A condition is one: what closes its bracket is refused, whatever quotes and comments hold.
func TestCheckCondition(t *testing.T) {
	for _, text := range []string{
		"", " ", "x > 1", "(x > 1) AND (y IN (1, 2))", "g = ')'", "g = 'it''s )'", `"odd )" > 1`, "x > 1 -- )",
		"x > 1 /* ) */ AND (TRUE)", "x > 1 -- )\n AND (TRUE)", "'", `"`, "/*", "-",
	} {
		if err := CheckCondition(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{
		")", "(", "TRUE) GROUP BY (g", "x IN (1, 2", "TRUE) -- (", "')') (",
		"/* */)", "--\n)",
	} {
		if err := CheckCondition(text); err == nil {
			t.Errorf("%q is a condition", text)
		}
	}
}

func FuzzCheckCondition(f *testing.F) {
	for _, text := range []string{"x > 1", "g = 'a)' -- (", "/* ) */ (x)", "é) '"} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) { _ = CheckCondition(text) })
}

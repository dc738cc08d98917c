package laboratory

import (
	"fmt"
	"math/big"
	"strings"

	"dither/audit/interpret"
	"dither/internal/cli/render"
)

// MarshalJSON writes all results in the form that docs/reference/json.md documents.
func (i interpreted) MarshalJSON() ([]byte, error) {
	r, _ := rated(i.Person, i.Named)
	parts := []string{
		fmt.Sprintf(`"prior":%s,"alpha":%s,"neighbours":%q,"rating":%q`, decimal(i.Scenario.Prior),
			decimal(i.Scenario.Alpha), i.Scenario.Neighbours, r),
	}
	for _, r := range i.readings() {
		told := `"epsilon":null,"delta":null,"posterior":null,"excess":null,"far":null,"fails":null`
		if r.Told {
			told = fmt.Sprintf(`"epsilon":%s,"delta":%s,"posterior":%s,"excess":%s,"far":%s,"fails":%s`,
				render.JSONFloat(floatUp(r.Promise.Epsilon.Rat())),
				render.JSONFloat(floatUp(r.Promise.Delta.Rat())), between(r.Posterior), render.JSONFloat(r.Excess),
				between(r.Far), render.JSONFloat(r.Fails))
		}
		parts = append(parts,
			fmt.Sprintf(`%q:{"steps":%d,%s,"advantage":%s,"power":%s}`, r.key, r.Steps, told,
				render.JSONFloat(r.Advantage), render.JSONFloat(r.Power)))
	}
	parts = append(parts, fmt.Sprintf(`"named":{"people":%d,"assumed":%v,"probability":%s,"expected":%s,"warned":%v}`,
		i.Named.People, !i.counted, between(i.Named.Probability), render.JSONFloat(i.Named.Expected), i.Named.Warned))
	return fmt.Appendf(nil, "{%s}", strings.Join(parts, ",")), nil
}

// decimal writes a number from the user: exactly if it is a decimal, and otherwise as the nearest float.
func decimal(r *big.Rat) string {
	if places, finite := r.FloatPrec(); finite {
		return r.FloatString(places)
	}
	return render.JSONRat(r)
}

// between writes two bounds as JSON. NaN becomes null.
func between(b interpret.Between) string {
	return fmt.Sprintf(`{"lower":%s,"upper":%s}`, render.JSONFloat(b.Lower), render.JSONFloat(b.Upper))
}

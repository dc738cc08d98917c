package curator

import (
	"encoding/json"
	"math/big"
	"testing"
)

// Integers beyond 2^53 are strings, so that no reader rounds them; text is left as it was asked.
func TestJSON(t *testing.T) {
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	for want, v := range map[string]json.Marshaler{
		`9007199254740992`:                     wholeNumber(big.NewInt(1 << 53)),
		`"123456789012345678901234567890"`:     wholeNumber(huge),
		`0.5`:                                  realNumber(0.5),
		`{"epsilon":0.3,"delta":0,"rho":null}`: Loss{Epsilon: "0.3", Delta: "0"},
		`{"error":{"code":"sql","message":"a > b & c","hint":"","line":2,"column":3,"retry":false}}`: &Error{
			Code: CodeSQL, Message: "a > b & c", Line: 2, Column: 3,
		},
		`{"value":null,"stddev":null,"low":-1,"high":null}`: Estimate{Low: realNumber(-1)},
	} {
		got, err := v.MarshalJSON()
		if err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}

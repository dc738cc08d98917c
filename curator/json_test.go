package curator

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strings"
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
		`{"value":0,"stddev":null,"low":null,"high":null}`:  Estimate{Value: realNumber(math.Copysign(0, -1))},
		`{"value":null,"stddev":null,"low":-1,"high":null}`: Estimate{Low: realNumber(-1)},
	} {
		got, err := v.MarshalJSON()
		if err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}

// A table says null where nothing is declared, and writes bounds and values in the column's type.
func TestTableJSON(t *testing.T) {
	for want, v := range map[string]json.Marshaler{
		`{"name":"p","description":null,"public":false,"unit":"row","expected_rows":null,"version":null,"columns":null}`:          Table{Name: "p"},
		`{"name":"p","description":"d","public":false,"unit":"id","expected_rows":7,"version":2,"columns":null}`:                  Table{Name: "p", Description: "d", Unit: "id", ExpectedRows: 7, Version: 2},
		`{"name":"p","description":null,"public":true,"unit":null,"expected_rows":null,"version":null,"columns":null}`:            Table{Name: "p", Public: true},
		`{"name":"c","type":"real","description":null,"lower":-0.5,"upper":5000,"values":null,"nullable":true}`:                   TableColumn{Name: "c", Type: "real", Lower: "-0.5", Upper: "5000", Nullable: true},
		`{"name":"c","type":"integer","description":null,"lower":0,"upper":"9223372036854775807","values":null,"nullable":false}`: TableColumn{Name: "c", Type: "integer", Lower: "0", Upper: "9223372036854775807"},
		`{"name":"c","type":"date","description":null,"lower":"2020-01-01","upper":"2020-12-31","values":null,"nullable":false}`:  TableColumn{Name: "c", Type: "date", Lower: "2020-01-01", Upper: "2020-12-31"},
		`{"name":"c","type":"text","description":null,"lower":null,"upper":null,"values":["","1"],"nullable":false}`:              TableColumn{Name: "c", Type: "text", Values: []string{"", "1"}},
		`{"name":"c","type":"boolean","description":null,"lower":null,"upper":null,"values":[true],"nullable":false}`:             TableColumn{Name: "c", Type: "boolean", Values: []string{"true"}},
		`{"name":"c","type":"text","description":null,"lower":null,"upper":null,"values":null,"nullable":false}`:                  TableColumn{Name: "c", Type: "text"},
	} {
		got, err := v.MarshalJSON()
		if err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}

// docs/reference/json.md lists every code, and holds JSON.
func TestJSONIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/reference/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Code{
		CodeUsage, CodeSQL, CodePolicy, CodeExhausted, CodeNotSealed, CodeStale, CodeSource, CodePolicyChanged, CodeLedger, CodeHome,
		CodeFailed, CodeInternal, CodeSuspended, CodeCancelled,
	} {
		if !strings.Contains(string(text), "| `"+string(c)+"` |") {
			t.Errorf("the code %s is not documented", c)
		}
	}
	examples := strings.Split(string(text), "```")
	for i := 1; i < len(examples); i += 2 {
		if !json.Valid([]byte(strings.TrimPrefix(examples[i], "json"))) {
			t.Errorf("no JSON: %s", examples[i])
		}
	}
}

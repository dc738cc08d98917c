package seal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"dither/internal/policy"
	"dither/internal/value"
)

// Values returns the distinct values of a public column at the time when a live version was sealed, in order. noted
// reports whether they were recorded (see [Options].Values). The values are in the version's file, so they stay the
// same while the version is in force, even if the table on the server changes. A release's groups must not change
// under its version number. The values were cleaned by the column's declared bounds and values, which may change
// while the version stays. If the declaration has changed, noted is false.
func Values(v Version, c *policy.Column) (values []value.Value, noted bool, err error) {
	text, err := os.ReadFile(v.File)
	if err != nil {
		return nil, false, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != v.SHA256 {
		return nil, false, fmt.Errorf("table %q: version %d does not hold the bytes that were sealed",
			v.Table, v.Number)
	}
	var sealed liveJSON
	if err := json.Unmarshal(text, &sealed); err != nil {
		return nil, false, err
	}
	texts, noted := sealed.Values[c.Name]
	if !noted || sealed.Declared[c.Name] != declaration(c) {
		return nil, false, nil
	}
	for _, text := range texts {
		v, err := value.Parse(c.Type, text)
		if err != nil {
			return nil, false, err
		}
		values = append(values, v)
	}
	return values, true, nil
}

// declarations returns, for each column with recorded values, a digest of the declaration that decides how it is
// cleaned.
func declarations(t *policy.Table, values map[string][]string) (out map[string]string) {
	for name := range values {
		if c := t.Column(name); c != nil {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = declaration(c)
		}
	}
	return out
}

func declaration(c *policy.Column) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %v %v %q", c.Type, c.Lower, c.Upper, c.Values))
	return hex.EncodeToString(sum[:])
}

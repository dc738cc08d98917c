package database

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/duckdb/duckdb-go/v2"
)

// shown returns a value of a result as nil, a bool, a string or a json.Number. An infinite number and one that is not a
// number are strings, since JSON has none.
func shown(kind string, v driver.Value) any {
	switch v := v.(type) {
	case nil, bool, string:
		return v
	case int8, int16, int32, int64, uint8, uint16, uint32, uint64:
		return json.Number(fmt.Sprint(v))
	case *big.Int:
		return json.Number(v.String())
	case duckdb.Decimal:
		return json.Number(v.String())
	case float32:
		return float(float64(v), 32)
	case float64:
		return float(v, 64)
	case time.Time:
		switch kind {
		case "DATE":
			return v.Format(time.DateOnly)
		case "TIME":
			return v.Format("15:04:05.999999")
		}
		return v.UTC().Format("2006-01-02 15:04:05.999999999")
	case duckdb.Interval:
		return fmt.Sprintf("%d months %d days %d microseconds", v.Months, v.Days, v.Micros)
	case []byte:
		return fmt.Sprintf("%x", v)
	}
	return fmt.Sprint(v)
}

func float(x float64, bits int) any {
	text := strconv.FormatFloat(x, 'g', -1, bits)
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return text
	}
	return json.Number(text)
}

package channel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dither/audit/channel"
)

func TestHeights(t *testing.T) {
	start := time.Now()
	var rows [][]string
	for i := range 201 {
		row := strings.Split(strings.Repeat("1/(200+exp(1)) ", 200)+"1/(200+exp(1))", " ")
		row[i] = "exp(1)/(200+exp(1))"
		rows = append(rows, row)
	}
	m, err := channel.New(nil, nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	l, err := m.Epsilon(channel.AllPairs())
	fmt.Printf("%+v %v %v\n", l, err, time.Since(start))
}

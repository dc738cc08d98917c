package channel_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"dither/audit/channel"
)

func TestHeights(t *testing.T) {
	var rows [][]string
	for i := range 201 {
		row := strings.Split(strings.Repeat("1/(200+exp(1)) ", 200)+"1/(200+exp(1))", " ")
		row[i] = "exp(1)/(200+exp(1))"
		rows = append(rows, row)
	}
	probe(t, rows)
}

func TestExpo(t *testing.T) {
	var rows [][]string
	n := 201
	for i := range n {
		var row, den []string
		for j := range n {
			d := i - j
			if d < 0 {
				d = -d
			}
			den = append(den, fmt.Sprintf("exp(-%d/400)", d))
		}
		sum := strings.Join(den, "+")
		for j := range n {
			row = append(row, den[j]+"/("+sum+")")
		}
		rows = append(rows, row)
	}
	probe(t, rows)
}

func probe(t *testing.T, rows [][]string) {
	start := time.Now()
	m, err := channel.New(nil, nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("read", time.Since(start))
	start = time.Now()
	l, err := m.Epsilon(channel.AllPairs())
	fmt.Println("ε", l.Lower, l.Upper, l.Exact, err, time.Since(start))
	for _, at := range []string{"0", "1/10", "1/2", "1"} {
		start = time.Now()
		e, err := channel.ParseExponent(at)
		if err != nil {
			t.Fatal(err)
		}
		x, err := m.Delta(channel.AllPairs(), e)
		fmt.Println("δ at", at, x.Lower, x.Upper, x.Exact, err, x.Row, x.Beside, len(x.Outputs), time.Since(start))
	}
	start = time.Now()
	e, _ := l.Exponent()
	x, err := m.Delta(channel.AllPairs(), e)
	fmt.Println("δ at ε", x.Lower, x.Upper, x.Exact, err, time.Since(start))
	start = time.Now()
	r, err := m.Least(channel.AllPairs(), big.NewRat(1, 1000))
	fmt.Println("ε at 1e-3", r.Lower, r.Upper, r.Exact, err, time.Since(start))
	start = time.Now()
	k, err := m.Leakage(nil)
	fmt.Printf("%+v %v %v\n", k, err, time.Since(start))
}

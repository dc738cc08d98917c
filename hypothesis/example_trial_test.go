package hypothesis_test

import (
	"fmt"
	"math/big"

	"dither/hypothesis"
	"dither/noise"
)

// trial has the noisy counts of a trial of two arms: people who were last observed in each of four years.
func trial() hypothesis.Lifetimes {
	laplace, err := noise.NewDiscreteLaplace(big.NewRat(2, 1))
	if err != nil {
		panic(err)
	}
	return hypothesis.Lifetimes{
		Events:   [][]float64{{52, 48, 31, 30}, {21, 24, 17, 22}},
		Censored: [][]float64{{11, 9, 22, 199}, {8, 13, 18, 281}},
		Noise:    laplace,
	}
}

// The share of people of each arm who are alive after each year, with a band around the whole curve.
func ExampleLifetimes_Curve() {
	for arm, name := range []string{"old", "new"} {
		curve, err := trial().Curve(arm, 0.95)
		if err != nil {
			fmt.Println(err)
			return
		}
		last := curve[len(curve)-1]
		fmt.Printf("%s: %.2f after %d years, in a band from %.2f to %.2f\n", name, last.Share, len(curve), last.BandLow, last.BandHigh)
	}
	// Output:
	// old: 0.58 after 4 years, in a band from 0.51 to 0.64
	// new: 0.78 after 4 years, in a band from 0.72 to 0.84
}

// Do people of both arms die at the same rate?
func ExampleLifetimes_LogRank() {
	t, err := trial().LogRank()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("χ² = %.0f with %d degree of freedom, p below .001: %t\n", t.Statistic, t.DF, t.P < 0.001)
	// Output:
	// χ² = 32 with 1 degree of freedom, p below .001: true
}

// Three wards, whose patients are in better or worse health.
func ExampleTable_Kruskal() {
	wards := hypothesis.Table{Counts: [][]float64{{30, 25, 20, 10}, {20, 25, 25, 15}, {10, 15, 30, 30}}}
	t, err := wards.Kruskal()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("H = %.1f with %d degrees of freedom\n", t.Statistic, t.DF)
	// Output:
	// H = 25.8 with 2 degrees of freedom
}

// How far health and age go together, from their table.
func ExampleTable_RankCorrelation() {
	ages := hypothesis.Table{Counts: [][]float64{{30, 25, 20, 10}, {20, 25, 25, 15}, {10, 15, 30, 30}}}
	t, err := ages.RankCorrelation(0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f, in [%.1f, %.1f]\n", t.Estimate, t.Interval.Low, t.Interval.High)
	// Output:
	// 0.31, in [0.2, 0.4]
}

// Do three wards have the same mean cost?
func ExampleAnova() {
	var wards []hypothesis.Sample
	for _, w := range [][3]float64{{40, 400, 4400}, {50, 550, 6600}, {30, 360, 4700}} {
		wards = append(wards, hypothesis.Sample{
			Count: hypothesis.Noisy{Value: w[0]}, Sum: hypothesis.Noisy{Value: w[1]}, Squares: hypothesis.Noisy{Value: w[2]},
			HasSquares: true, High: 40,
		})
	}
	t, err := hypothesis.Anova(wards, hypothesis.Comparison{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("F = %.2f, p = %.3f\n", t.Statistic, t.P)
	// Output:
	// F = 2.94, p = 0.059
}

// Two towns with the same rates in each age group: the older one has more events, until age is accounted for.
func ExampleStrata_Direct() {
	rates, err := hypothesis.Strata{
		Events: [][]float64{{10, 40}, {5, 120}}, Others: [][]float64{{990, 960}, {495, 2880}}, Weights: []float64{.7, .3},
	}.Direct(0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rates {
		fmt.Printf("crude %.3f, standardised %.3f\n", r.Crude, r.Value)
	}
	// Output:
	// crude 0.025, standardised 0.019
	// crude 0.036, standardised 0.019
}

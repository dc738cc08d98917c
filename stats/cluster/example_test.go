package cluster_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"dither/stats/cluster"
	"dither/stats/internal/statstest"
)

// Two groups of people, by their doses and by how many days they were ill.
func ExampleKMeans() {
	c, done := statstest.Trial()
	defer done()
	found, err := cluster.KMeans(context.Background(), c,
		cluster.Request{Table: "trial", Columns: []string{"dose", "days"}, K: 2, Epsilon: "2"})
	if err != nil {
		log.Fatal(err)
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, cluster := range found.Clusters {
		least, most = math.Min(least, cluster.Centre[0].Value), math.Max(most, cluster.Centre[0].Value)
	}
	fmt.Printf("doses of about %.0f and %.0f\n", least, most)
	// Output:
	// doses of about 2 and 8
}

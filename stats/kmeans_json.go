package stats

import (
	"encoding/json"

	"dither/curator"
)

type clusterNumberJSON struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

type clusterJSON struct {
	Size   clusterNumberJSON   `json:"size"`
	Centre []clusterNumberJSON `json:"centre"`
}

type clusterScoreJSON struct {
	K          int     `json:"k"`
	Silhouette float64 `json:"silhouette"`
	StdDev     float64 `json:"stddev"`
}

// MarshalJSON writes the clusters; centres are in the order of the columns.
func (c *Clusters) MarshalJSON() ([]byte, error) {
	clusters := []clusterJSON{}
	for _, k := range c.Clusters {
		j := clusterJSON{Size: clusterNumberJSON(k.Size)}
		for _, x := range k.Centre {
			j.Centre = append(j.Centre, clusterNumberJSON(x))
		}
		clusters = append(clusters, j)
	}
	var scores []clusterScoreJSON
	for _, s := range c.Scores {
		scores = append(scores, clusterScoreJSON(s))
	}
	return json.Marshal(struct {
		Releases   []string           `json:"releases"`
		Method     string             `json:"method"`
		Columns    []string           `json:"columns"`
		Bounds     [][2]float64       `json:"bounds"`
		Clusters   []clusterJSON      `json:"clusters"`
		Confidence json.Number        `json:"confidence"`
		Rows       float64            `json:"rows"`
		Seed       uint64             `json:"seed"`
		Buckets    []int              `json:"buckets,omitempty"`
		Leaves     int                `json:"leaves,omitempty"`
		Scores     []clusterScoreJSON `json:"scores,omitempty"`
		Restarts   int                `json:"restarts,omitempty"`
		Trace      [][][]float64      `json:"trace,omitempty"`
		Warnings   []string           `json:"warnings"`
		Notes      []string           `json:"notes"`
		Price      curator.Loss       `json:"price"`
		Remaining  curator.Loss       `json:"remaining"`
		Replayed   bool               `json:"replayed"`
	}{
		c.Releases, c.Method, c.Columns, c.Bounds, clusters, json.Number(c.Confidence), c.Rows, c.Seed, c.Buckets, c.Leaves, scores, c.Restarts, c.Trace,
		append([]string{}, c.Warnings...), c.Notes, c.Price, c.Remaining, c.Replayed,
	})
}

type clusteringLookJSON struct {
	What  string      `json:"what"`
	Times int         `json:"times"`
	Price json.Number `json:"price"`
	Count float64     `json:"stddev_count"`
	Sums  []float64   `json:"stddev_sums,omitempty"`
}

// MarshalJSON writes the explanation.
func (e *ClusteringExplanation) MarshalJSON() ([]byte, error) {
	var looks []clusteringLookJSON
	for _, l := range e.Looks {
		looks = append(looks, clusteringLookJSON{l.What, l.Times, json.Number(l.Price), l.Count, l.Sums})
	}
	var unpaid *curator.Loss
	if !e.Replayed {
		unpaid = &e.Unpaid
	}
	return json.Marshal(struct {
		Method     string               `json:"method"`
		Columns    []string             `json:"columns"`
		Looks      []clusteringLookJSON `json:"looks"`
		Buckets    []int                `json:"buckets,omitempty"`
		Price      curator.Loss         `json:"price"`
		Unpaid     *curator.Loss        `json:"unpaid"`
		Remaining  curator.Loss         `json:"remaining"`
		Affordable bool                 `json:"affordable"`
		Largest    string               `json:"largest_epsilon"`
		Replayed   bool                 `json:"replayed"`
		Notes      []string             `json:"notes"`
	}{e.Method, e.Columns, looks, e.Buckets, e.Price, unpaid, e.Remaining, e.Affordable, e.Largest, e.Replayed, e.Notes})
}

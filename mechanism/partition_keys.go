package mechanism

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Partition is one of the partitions that there are in the data, on its way from an engine to a mechanism: a key, and an
// exact value or number of units. That it is there is as secret as its value, so it is as opaque as Exact.
type Partition struct {
	Exact         // whose ways of printing, logging and encoding are those of the whole
	key   *string // nil is "". Behind a pointer, so that none of fmt's verbs follows it
}

// NewPartition seals a partition. Keys of several columns, or of other types, are encoded by the caller, different ones
// differently.
func NewPartition(key string, value Exact) Partition { return Partition{value, &key} }

// name is the key.
func (p Partition) name() string {
	if p.key == nil {
		return ""
	}
	return *p.key
}

// KeptPartition is one that a mechanism releases.
type KeptPartition struct {
	Key   string
	Value *big.Int
}

// ErrKeys reports two partitions of one key. It is a defect of the engine's, which did not group, and says nothing of the
// values.
var ErrKeys = errors.New("two partitions have the same key")

// byKey is the partitions in byte order of their keys; or ErrKeys.
//
// Mechanisms go through partitions in that order and release those that they keep, and no trace of the others: neither their
// number nor a place that is left empty. So the order of a release is a function of the keys in it.
func byKey(partitions []Partition) ([]Partition, error) {
	order := func(p, q Partition) int { return strings.Compare(p.name(), q.name()) }
	sorted := slices.SortedFunc(slices.Values(partitions), order)
	for i := range sorted {
		if i > 0 && order(sorted[i-1], sorted[i]) == 0 {
			return nil, fmt.Errorf("grouping: %w", ErrKeys)
		}
	}
	return sorted, nil
}

package partition

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/mechanism"
	"dither/mechanism/internal/opaque"
)

// Kept is a released partition.
type Kept struct {
	Key   string
	Value *big.Int
}

// ErrKeys reports two partitions with one key. It is a defect of the engine, which did not group, and says nothing
// about the values.
var ErrKeys = errors.New("two partitions have the same key")

// byKey sorts the partitions by the bytes of their keys; or returns ErrKeys.
//
// Mechanisms process partitions in that order. They release the partitions that they keep, and no trace of the others:
// neither their number nor an empty place. So the order of a release is a function of its keys.
func byKey(partitions []mechanism.Partition) ([]mechanism.Partition, error) {
	type keyed struct {
		first uint64 // eight bytes of the key, which usually decide
		mechanism.Partition
	}
	order := func(p, q keyed) int {
		if p.first != q.first {
			return cmp.Compare(p.first, q.first)
		}
		return strings.Compare(opaque.Key(p.Partition), opaque.Key(q.Partition))
	}
	keys := make([]keyed, len(partitions))
	for i, p := range partitions {
		// a key that is shorter comes before those that begin with it, and is compared with them in full
		var first [8]byte
		copy(first[:], opaque.Key(p))
		keys[i] = keyed{binary.BigEndian.Uint64(first[:]), p}
	}
	slices.SortFunc(keys, order)
	sorted := make([]mechanism.Partition, len(keys))
	for i := range keys {
		if i > 0 && order(keys[i-1], keys[i]) == 0 {
			return nil, fmt.Errorf("grouping: %w", ErrKeys)
		}
		sorted[i] = keys[i].Partition
	}
	return sorted, nil
}

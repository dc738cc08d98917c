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

// Kept is a released key with its noisy value.
type Kept struct {
	Key   string
	Value *big.Int
}

// ErrKeys reports two partitions with the same key. It means that the engine failed to group, and says nothing
// about the values.
var ErrKeys = errors.New("two partitions have the same key")

// byKey returns the partitions sorted by the bytes of their keys, or ErrKeys.
//
// Mechanisms process partitions in this order. A release contains only the kept partitions and no trace of the
// others: no number, no empty place. So the order of a release depends only on the keys in it.
func byKey(partitions []mechanism.Partition) ([]mechanism.Partition, error) {
	type keyed struct {
		first uint64 // the key's first eight bytes, which usually decide
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
		// A key shorter than eight bytes is padded with zeros. Keys whose first eight bytes are equal are compared
		// in full.
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

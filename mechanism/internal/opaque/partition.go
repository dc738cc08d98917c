package opaque

// Partition is a partition that exists in the data, which an engine passes to a mechanism: a key with an exact
// value, such as its number of units. Its existence is as secret as its value.
type Partition struct {
	Exact         // Exact's methods for printing, logging and encoding hide the whole Partition.
	key   *string // nil means "". It is a pointer because no verb of fmt prints the text behind a pointer field
}

// NewPartition returns a Partition that hides a key and its value. The caller encodes a key of several columns, or
// of another type, as text, so that different keys have different texts.
func NewPartition(key string, value Exact) Partition { return Partition{Exact: value, key: &key} }

// Key returns a partition's key.
func Key(p Partition) string {
	if p.key == nil {
		return ""
	}
	return *p.key
}

package opaque

// Partition is a partition that exists in the data, on its way from an engine to a mechanism: a key with an exact value
// or number of units. Its existence is as secret as its value.
type Partition struct {
	Exact         // its ways of printing, logging and encoding are those of the whole
	key   *string // nil is "". Behind a pointer, so that none of fmt's verbs follows it
}

// NewPartition hides a partition. The caller encodes keys of several columns, or of other types, so that different keys
// have different texts.
func NewPartition(key string, value Exact) Partition { return Partition{Exact: value, key: &key} }

// Key opens a partition's key.
func Key(p Partition) string {
	if p.key == nil {
		return ""
	}
	return *p.key
}

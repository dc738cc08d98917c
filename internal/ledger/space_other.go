//go:build !linux

package ledger

func (f systemFile) Allocate(int64, int64) error { return errNoAllocate }

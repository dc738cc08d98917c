package mechanism

type Ordered struct {
	scan func(yield func(value, count int64) bool) error
}

func NewOrdered(scan func(yield func(value, count int64) bool) error) Ordered { return Ordered{scan} }

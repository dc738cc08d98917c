//go:build !linux

package curator

import "testing"

func asNobody(*testing.T) {}

package enginetest

import (
	"testing"

	"pgregory.net/rapid"
)

// Strategies chosen at random never move beyond their plan, on neighbours of all kinds of worlds, and most move.
func TestStrategiesMoveAtMostAsPlanned(t *testing.T) {
	looked, moved := 0, 0
	for number := range 40 {
		p := rapid.Custom(func(t *rapid.T) (p pair) {
			p.World = RandomWorld(t, number%2 == 0)
			p.of[0], p.of[1] = RandomTwins(t, p.World)
			return p
		}).Example(number)
		of := [2]Database{Reference{rankedAll(p.Policy, p.of[0])}, Reference{rankedAll(p.Policy, p.of[1])}}
		for seed := range 12 {
			q := p.audience("strategies", seed)
			if q == nil {
				continue
			}
			moves, err := q.check(of, func(int) int { return 0 })
			if err != nil {
				t.Fatalf("%v\n%s\n%v", err, p.Text, p.of)
			}
			for _, m := range moves {
				if looked++; m.Moved {
					moved++
				}
			}
		}
	}
	if moved < 100 {
		t.Errorf("of %d vectors %d moved", looked, moved)
	}
	t.Log(looked, moved)
}

package enginetest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// PlantedVariable is the environment variable that names the planted error to enable. Only builds with planted
// errors read it.
const PlantedVariable = "DITHER_PLANTED"

// Refused is the suffix of the names of planted errors that must make sealing, or reading the sealed data, fail.
const Refused = " (refused)"

// Catch asks the same questions as Run. It asks each question again with each planted error, and an error is caught
// if a result then moves by more than planned. Catch stops when all errors are caught, and returns the names of the
// others. sealing reports whether an error concerns sealing. Such an error needs databases that were sealed with
// it. All other errors only change statements or plans. A database returns its stored result for a repeated
// statement, so an error that does not change the statement takes no time.
func (a Audit) Catch(t *testing.T, names []string, sealing func(name string) bool) []string {
	t.Helper()
	of := audited{
		Audit: a, asked: Met{}, moved: Met{}, looked: map[string]int{}, shook: map[string]int{},
		alive: map[string]bool{}, told: map[string]bool{}, sealing: sealing, log: t.Logf,
	}
	for _, name := range names {
		of.alive[name] = true
	}
	of.names = slices.Sorted(maps.Keys(of.alive))
	defer func() { _ = os.Unsetenv(PlantedVariable) }()
	if err := of.aimed(); err != nil {
		t.Fatalf("without an error: %v", err)
	}
	for world := a.First; world < a.First+a.Worlds && len(of.alive) > 0; world++ {
		if err := of.world(world); err != nil {
			t.Fatalf("world %d, without an error: %v", world, err)
		}
	}
	t.Logf("%d questions", of.questions)
	return slices.Sorted(maps.Keys(of.alive))
}

// catch asks one question with each planted error that is not caught yet.
func (a *audited) catch(p pair, number int, q *audience, databases [2]Database, pick func() func(int) int) error {
	for _, name := range slices.Sorted(maps.Keys(a.alive)) {
		if a.sealing(name) && !a.resealed {
			continue
		}
		if err := os.Setenv(PlantedVariable, name); err != nil {
			return err
		}
		breach, err := a.breached(p, number, name, q, databases, pick)
		if e := os.Unsetenv(PlantedVariable); e != nil {
			return e
		}
		switch {
		case breach, err != nil && strings.HasSuffix(name, Refused):
			a.log("caught: %s\n    by %v", name, err)
			delete(a.alive, name)
		case err != nil && !a.told[name]:
			a.log("fails otherwise: %s\n    %v", name, err)
			a.told[name] = true
		}
	}
	return nil
}

func (a *audited) breached(
	p pair, number int, name string, q *audience, databases [2]Database, pick func() func(int) int,
) (bool, error) {
	if a.sealing(name) {
		as := fmt.Sprintf("world%dwith%d", number, slices.Index(a.names, name))
		if a.with == nil {
			a.with = map[string][2]Database{}
		}
		if _, sealed := a.with[as]; !sealed {
			a.with[as] = [2]Database{}
			var of [2]Database
			for side, tables := range p.of {
				d, err := a.Seal(number, p.World, tables, fmt.Sprintf("%sof%d", as, side))
				if err != nil {
					return false, err
				}
				of[side] = d
			}
			a.with[as] = of
		}
		if databases = a.with[as]; databases[0] == nil {
			return false, errors.New("sealing fails")
		}
	}
	wrong := q
	if !strings.Contains(name, "internal/engine/") { // the error is in planning, so the question is planned again
		var err error
		if wrong, err = q.again(p.Policy); err != nil {
			return false, err
		}
	}
	_, err := wrong.check(databases, pick())
	var breach *BreachError
	return errors.As(err, &breach), err
}

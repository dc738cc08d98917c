package enginetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/policy"
	"dither/internal/splitmix"
	"dither/internal/value"
)

// Audit is the replay audit of an engine. It asks the same questions of two neighbouring databases, which are sealed
// separately. It checks that the exact results differ by at most the planned sensitivity. A result moves if it differs
// at all. Worlds, rows and questions are the same in every run.
type Audit struct {
	// the number of worlds (policies with two neighbouring databases), and of questions in each world
	Worlds, Questions int
	First             int // the number of the first world
	// Ways is how many ways of sealing the engine has. With 2 ways, odd worlds are sealed in one way, and even
	// worlds in the other.
	Ways int
	// the smallest number of questions with each construct that must move; 0 if constructs may be missing
	Least int
	Parts func(world int) bool // reports whether tables of this world may have parts
	// Seal stores rows where the engine reads them, as sealing does, under a name that no other database has.
	Seal func(world int, w World, tables Tables, name string) (Sealed, error)
}

// MovedShare is the least percentage of results that must move, that is, differ between the two databases. A result
// that cannot move proves nothing.
const MovedShare = 60

// audited is the state of an audit.
type audited struct {
	Audit
	asked, moved  Met
	looked, shook map[string]int // by kind: the numbers of vectors that were compared, and that moved
	questions     int

	// for Catch only:
	alive   map[string]bool // the planted errors that are not caught yet; nil in Run
	sealing func(string) bool
	// resealed reports whether errors of sealing are tried in this pair. Each of these errors needs its own
	// databases.
	resealed bool
	log      func(string, ...any)
	with     map[string][2]Database // databases that were sealed with a planted error, by the error's name
	names    []string
	told     map[string]bool
}

// pair is a world (a policy for which questions are made) with the rows of two neighbouring databases.
type pair struct {
	World
	of [2]Tables
}

// Run runs the audit. The test fails if a result differs between the neighbouring databases by more than planned, if
// too few results differ, or if a construct is missing.
func (a Audit) Run(t *testing.T) {
	t.Helper()
	of := audited{Audit: a}
	if err := of.aimed(); err != nil {
		t.Fatal(err)
	}
	of.asked, of.moved, of.looked, of.shook, of.questions = Met{}, Met{}, map[string]int{}, map[string]int{}, 0
	for world := a.First; world < a.First+a.Worlds; world++ {
		if err := of.world(world); err != nil {
			t.Fatalf("world %d: %v", world, err)
		}
	}
	all, moved := 0, 0
	for _, kind := range slices.Sorted(maps.Keys(of.looked)) {
		all, moved = all+of.looked[kind], moved+of.shook[kind]
		t.Logf("%-16s %5d looked at, %5d moved", kind, of.looked[kind], of.shook[kind])
	}
	t.Logf("%d questions of %d worlds; of %d vectors %d moved (%d %%)", of.questions, a.Worlds, all, moved,
		100*moved/max(all, 1))
	if 100*moved < MovedShare*all || all == 0 {
		t.Errorf("less than %d %% of what was looked at moved", MovedShare)
	}
	if name := of.moved.Lacking(a.Least); name != "" {
		t.Errorf("%s: of %d questions %d moved", name, of.asked[name], of.moved[name])
	}
	missing := []string{}
	for _, c := range Constructs {
		if of.moved[c.Name] == 0 {
			missing = append(missing, c.Name)
		}
	}
	t.Logf("%d of %d constructs moved; not: %q", len(Constructs)-len(missing), len(Constructs), missing)
}

// world makes one random world, a policy with two neighbouring databases, and asks its questions.
func (a *audited) world(number int) error {
	drawn := rapid.Custom(func(t *rapid.T) (p pair) {
		p.World = RandomWorld(t, a.Parts(number))
		p.of[0], p.of[1] = RandomTwins(t, p.World)
		return p
	}).Example(number)
	sealed, err := a.sealed(drawn, number)
	if err != nil {
		return err
	}
	chance := splitmix.At(splitmix.Mix(uint64(number)))
	for range a.Questions {
		q := a.question(sealed.World, sealed.references, &chance)
		if q == nil {
			continue
		}
		a.questions++
		moves, err := a.ask(sealed, q, &chance)
		if err != nil {
			return fmt.Errorf("%w\n%s\n%v\n%v", err, drawn.Text, drawn.of[0], drawn.of[1])
		}
		any := false
		for _, m := range moves {
			a.looked[m.Kind]++
			if m.Moved {
				a.shook[m.Kind]++
				any = true
			}
		}
		for _, c := range q.constructs {
			if a.asked[c]++; any {
				a.moved[c]++
			}
		}
	}
	return nil
}

// sealedPair is a pair of databases that an engine has sealed.
type sealedPair struct {
	pair
	number     int
	other      *policy.Policy // the policy of the second database, with the values of that database's public tables
	databases  [2]Database
	references [2]Database
}

func (a *audited) sealed(drawn pair, number int) (out sealedPair, err error) {
	out = sealedPair{pair: drawn, number: number}
	var policies [2]*policy.Policy
	for side, tables := range drawn.of {
		sealed, err := a.Seal(number, drawn.World, tables, fmt.Sprintf("world%dof%d", number, side))
		if err != nil {
			return out, err
		}
		policies[side] = drawn.Policy.Filled(func(o policy.Origin) ([]value.Value, int, string) {
			known, e := sealed.Known(o)
			err = errors.Join(err, e)
			return known, 1, ""
		})
		if err != nil {
			return out, err
		}
		out.databases[side], out.references[side] = sealed, Reference{rankedAll(drawn.Policy, tables)}
	}
	out.Policy, out.other = policies[0], policies[1]
	return out, nil
}

// ask asks one question of a pair of databases. In Catch, it then asks again with each planted error, a deliberate
// error in the code.
func (a *audited) ask(p sealedPair, q *audience, chance *splitmix.Stream) ([]Move, error) {
	again, err := q.again(p.other)
	if err != nil || again.text != q.text {
		return nil, fmt.Errorf("%s: another plan of the other: %w", q.sql, err)
	}
	draws := *chance
	moves, err := q.check(p.databases, chance.Below)
	if err != nil || a.alive == nil {
		return moves, err
	}
	return moves, a.catch(p.pair, p.number, q, p.databases, func() func(int) int { same := draws; return same.Below })
}

// question draws some questions and returns one whose results differ between the databases on the reference engine. If
// there are several, it returns the one with the construct (a part of the SQL dialect) that has most rarely made
// results differ so far.
func (a *audited) question(w World, references [2]Database, chance *splitmix.Stream) (best *audience) {
	least, kind := 1<<30, "plan"
	if turn := a.questions % 14; turn < len(kindsOfLooks) {
		kind = kindsOfLooks[turn]
	}
	for range 25 {
		q := w.audience(kind, int(chance.Word()>>2))
		if q == nil {
			continue
		}
		rarity := a.questions
		for _, c := range q.constructs {
			rarity = min(rarity, a.moved[c])
		}
		twin := *chance // a copy, so that the reference does not advance the audit's draws
		moves, err := q.check(references, twin.Below)
		still := 0
		for _, m := range moves {
			if !m.Moved {
				still++
			}
		}
		// most results do not move, so the question shows little
		if err == nil && 2*still > len(moves) || len(moves) == 0 {
			rarity += 1 << 20
		}
		if rarity < least {
			least, best = rarity, q
		}
	}
	return best
}

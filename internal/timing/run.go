package timing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dither/audit"
	"dither/curator"
	"dither/internal/splitmix"
)

// Door is how a question is asked.
type Door string

// The doors: a call of the library in this process, and a process of the program.
const (
	Library Door = "library"
	Command Door = "command"
)

// Options are the parameters of a measurement.
type Options struct {
	Rows     int64
	Pairs    int           // of runs, of each class and door
	Duration time.Duration // or fewer, if they take longer than this
	Doors    []Door
	Classes  []string // none for all
	Postgres string
	Seed     uint64
	Planted  bool     // the planted class alone, under a policy that admits it
	Program  []string // the command and its first arguments; nil if Doors has no Command
	Progress func(pairs int, left time.Duration)
}

// Class is the result for one class of questions at one door.
type Class struct {
	Question
	Door Door
	*audit.Clock
}

// Report is what was measured.
type Report struct {
	Engine  string
	Rows    int64
	Classes []Class
	Load    [2]string // of the machine, before and after, as the system has it
}

// leastPairs are needed for any bound.
const leastPairs = 20

// measured is a class with the two homes that it compares.
type measured struct {
	Class
	homes [2]*home
	took  [2][]time.Duration
}

// Run measures. It makes homes in a temporary folder, and removes them.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	folder, err := os.MkdirTemp("", "dither-timing-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	w := Where{Rows: o.Rows, Unit: storedRows, Postgres: o.Postgres, Folder: folder}
	if o.Planted {
		w.Unit, w.Limits = rowsPerUnit, "limits: {unit_cost: 1000000000000000}\n"
	}
	var homes []*home
	defer func() {
		for _, h := range homes {
			err = errors.Join(err, h.close(context.WithoutCancel(ctx)))
		}
	}()
	for i, name := range []string{"without", "with", "alike", "same"} {
		h, err := w.make(ctx, name, i == 1)
		if err != nil {
			return nil, err
		}
		homes = append(homes, h)
	}
	choose := func(ctx context.Context, c *curator.Owner) ([]Question, error) { return questions(ctx, c, o.Seed) }
	if o.Planted {
		choose = planted
	}
	asked, err := choose(ctx, homes[1].Owner)
	if err != nil {
		return nil, err
	}
	control := fixed()[0]
	control.Name = Control
	asked = append(asked, control)
	var classes []*measured
	for _, q := range asked {
		for _, d := range o.Doors {
			m := &measured{Class: Class{Question: q, Door: d}, homes: [2]*home(homes[:2])}
			if q.Name == Control {
				m.homes = [2]*home(homes[2:])
			}
			if o.wants(q) {
				classes = append(classes, m)
			}
		}
	}
	r := &Report{Engine: o.engine(), Rows: o.Rows}
	r.Load[0] = load()
	if err := o.rounds(ctx, classes); err != nil {
		return nil, err
	}
	r.Load[1] = load()
	for _, m := range classes {
		m.Clock = audit.ClockOf(m.took[0], m.took[1])
		r.Classes = append(r.Classes, m.Class)
	}
	return r, nil
}

func (o Options) wants(q Question) bool {
	return len(o.Classes) == 0 || slices.Contains(o.Classes, q.Name)
}

// warmUps are rounds that are not counted.
const warmUps = 2

// rounds asks one pair of each class after the other, both in random order, until there are enough.
func (o Options) rounds(ctx context.Context, classes []*measured) error {
	draws := splitmix.At(splitmix.Mix(o.Seed + 1))
	begun, order := time.Now(), slices.Clone(classes)
	for round := -warmUps; round < o.Pairs; round++ {
		for i := len(order) - 1; i > 0; i-- {
			j := draws.Below(i + 1)
			order[i], order[j] = order[j], order[i]
		}
		for _, m := range order {
			first := draws.Below(2)
			for _, side := range []int{first, 1 - first} {
				took, err := o.ask(ctx, m.homes[side], m.Class)
				if err != nil {
					return fmt.Errorf("%s: %w", m.Name, err)
				}
				if round >= 0 {
					m.took[side] = append(m.took[side], took)
				}
			}
		}
		spent := time.Since(begun)
		if round+1 >= leastPairs && o.Duration > 0 && spent > o.Duration {
			break
		}
		if o.Progress != nil && round >= 0 {
			left := time.Duration(float64(spent) / float64(round+1+warmUps) * float64(o.Pairs-round-1))
			if o.Duration > 0 {
				left = min(left, o.Duration-spent)
			}
			o.Progress(round+1, left)
		}
	}
	return nil
}

// ask asks one home, afresh, and times the answer: from the call to the return, or from the start of the process to its
// end.
func (o Options) ask(ctx context.Context, h *home, c Class) (time.Duration, error) {
	if c.Door == Library {
		begun := time.Now()
		_, err := h.Answer(ctx, curator.Question{SQL: c.SQL, Epsilon: Price, Fresh: true})
		return time.Since(begun), err
	}
	args := append(
		slices.Clone(o.Program[1:]),
		"-C",
		h.path,
		"query",
		"--fresh",
		"--epsilon",
		Price,
		"--format",
		"json",
		"-",
	)
	cmd := exec.CommandContext(ctx, o.Program[0], args...)
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.SQL), io.Discard, &complaint
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+h.state)
	begun := time.Now()
	err := cmd.Run()
	took := time.Since(begun)
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, complaint.String())
	}
	return took, nil
}

// load is the system's report of the machine's load; "" without one.
func load() string {
	text, err := os.ReadFile(filepath.FromSlash("/proc/loadavg"))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

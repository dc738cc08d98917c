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

// Door is the way in which a question is asked.
type Door string

// The ways to ask a question: Library is a call in this process, and Command is a process of the program.
const (
	Library Door = "library"
	Command Door = "command"
)

// Options are the parameters of a measurement.
type Options struct {
	Rows     int64
	Pairs    int           // pairs of runs, for each class and door
	Duration time.Duration // stop after this time, even with fewer pairs; 0 means no limit
	Doors    []Door
	Classes  []string // empty means all
	Postgres string
	Seed     uint64
	Planted  bool     // measure only the planted class, under a policy that admits it
	Program  []string // the command and its first arguments; used if Doors contains Command
	Progress func(pairs int, left time.Duration)
}

// Class is the result for one class of questions, asked through one door.
type Class struct {
	Question
	Door Door
	*audit.Clock
}

// Report is the result of a measurement.
type Report struct {
	Engine  string
	Rows    int64
	Classes []Class
	Load    [2]string // the system's load averages, before and after
}

// leastPairs is the smallest number of pairs for which bounds are computed.
const leastPairs = 20

// measured is a class with the two homes that it compares, and the times measured so far.
type measured struct {
	Class
	homes [2]*home
	took  [2][]time.Duration
}

// Run carries out a measurement. It makes homes in a temporary folder, and removes them at the end.
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

// warmUps is the number of rounds at the beginning that are not counted.
const warmUps = 2

// rounds measures one pair of runs of each class in each round. The classes, and the two runs of a pair, are in
// random order. It ends after o.Pairs rounds, or when o.Duration is over.
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

// ask asks one home a question, without replay, and returns the time of the answer. For the library, this is the
// time of the call. For the program, it is the time from the start of the process to its end.
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

// load returns the system's load averages, or "" if the system does not report them.
func load() string {
	text, err := os.ReadFile(filepath.FromSlash("/proc/loadavg"))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

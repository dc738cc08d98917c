package laboratory

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/timing"
)

type timingFlags struct {
	calibrate, planted                                         bool
	rows, runs, duration, ratio, door, class, server, seedText string
}

// timed is one measurement. ratio is the largest number of questions that an analyst may ask.
type timed struct {
	ratio float64
	*timing.Report
}

// Defaults of `dither audit timing`.
const (
	timingRuns  = 200
	timingRatio = 100
	timingTime  = time.Minute
	timingRows  = 20_000
)

func (f *timingFlags) declare(s *console.Console) {
	s.FormatFlag("table", "json")
	s.Flag(&f.calibrate, "calibrate", "",
		"with timing: measure the factor of answer_delay on this machine, and print the line for the policy")
	s.Flag(&f.planted, "planted", "",
		"with timing: measure only a question that leaks through its time and that no policy should permit; its "+
			"verdict must not be \"shown\"")
	s.Flag(&f.rows, "rows", "LIST",
		"with timing: the numbers of rows of the made-up tables, such as 100,20000,1000000 (default 20000)")
	runsFlag(s, &f.runs)
	s.Flag(&f.duration, "duration", "SECONDS",
		"with timing: stop after this time, once there are 20 pairs of each class (default 60, unless --runs is "+
			"given)")
	s.Flag(&f.ratio, "ratio", "N",
		"with timing: the number of questions that an analyst may ask, budget / price.minimum (default 100)")
	s.Flag(&f.door, "door", "DOOR", "with timing: ask through the library, the command, or both (default both)")
	s.Flag(&f.class, "class", "LIST", "with timing: only these classes of questions, such as count,worst-like "+
		"(default all)")
	s.Flag(&f.server, "postgres", "VARIABLE",
		"with timing: use the PostgreSQL server whose URL is in this environment variable (default: files)")
	s.Flag(&f.seedText, "seed", "S",
		"with timing: the seed of the generated questions and of the order of runs (default 1)")
}

// runAuditTiming measures what the time of an answer reveals about one unit. With --calibrate, it measures the
// factor of answer_delay instead. It reads no home and spends nothing.
func runAuditTiming(s *console.Console, args []string) error {
	var f timingFlags
	f.declare(s)
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) > 0 {
		return console.Usage("audit timing takes only flags, not %q", rest[0])
	}
	o, sizes, ratio, err := f.options()
	if err != nil {
		return err
	}
	ctx, stop := console.Interruptible()
	defer stop()
	if f.calibrate {
		return calibrateTiming(s, ctx, o, sizes)
	}
	var all []timed
	for _, rows := range sizes {
		o.Rows, o.Progress = rows, timingProgress(s, rows)
		r, err := timing.Run(ctx, o)
		clearLine(s)
		if err != nil {
			return timingError(ctx, err)
		}
		if s.Format != "json" {
			s.Print("%s", render.PrintableLines(timingText(timed{ratio, r})))
		}
		all = append(all, timed{ratio, r})
	}
	if s.Format == "json" {
		return s.JSON(timingReports(all))
	}
	s.Print("%s", timingWords(all))
	return nil
}

func calibrateTiming(s *console.Console, ctx context.Context, o timing.Options, sizes []int64) error {
	o.Rows, o.Progress = slices.Max(sizes), timingProgress(s, slices.Max(sizes))
	c, err := timing.Calibrate(ctx, o)
	clearLine(s)
	if err != nil {
		return timingError(ctx, err)
	}
	if s.Format == "json" {
		return s.JSON(calibrationReport{c})
	}
	s.Print("%s", render.PrintableLines(timingCalibrationText(c)))
	return nil
}

func timingError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &curator.Error{Code: curator.CodeCancelled, Message: "the audit was interrupted"}
	}
	return &curator.Error{Code: codeSubject, Message: err.Error()}
}

func (f *timingFlags) options() (o timing.Options, sizes []int64, ratio float64, err error) {
	o = timing.Options{Pairs: timingRuns, Duration: timingTime, Postgres: f.server, Planted: f.planted, Seed: 1}
	sizes, ratio = []int64{timingRows}, timingRatio
	if f.rows != "" {
		sizes = nil
		for text := range strings.SplitSeq(f.rows, ",") {
			n, err := console.WholeFlag("rows", text, 100, 100_000_000)
			if err != nil {
				return o, nil, 0, err
			}
			sizes = append(sizes, n)
		}
	}
	if f.runs != "" {
		n, err := console.WholeFlag("runs", f.runs, 20, 1_000_000)
		if err != nil {
			return o, nil, 0, err
		}
		o.Pairs, o.Duration = int(n), 0
	}
	if f.duration != "" {
		if o.Duration, err = console.SecondsFlag("duration", f.duration); err != nil {
			return o, nil, 0, err
		}
		if f.runs == "" {
			o.Pairs = 1_000_000
		}
	}
	if f.ratio != "" {
		n, err := console.WholeFlag("ratio", f.ratio, 1, 1_000_000_000)
		if err != nil {
			return o, nil, 0, err
		}
		ratio = float64(n)
	}
	if f.seedText != "" {
		n, err := console.WholeFlag("seed", f.seedText, 0, 1<<53)
		if err != nil {
			return o, nil, 0, err
		}
		o.Seed = uint64(n)
	}
	if f.server != "" && os.Getenv(f.server) == "" {
		return o, nil, 0, console.Usage(
			"--postgres must name an environment variable that holds a server's URL, but %q is not set", f.server)
	}
	if f.class != "" {
		o.Classes = strings.Split(f.class, ",")
		for _, name := range o.Classes {
			if !slices.Contains(timing.Names(o.Planted), name) {
				return o, nil, 0, console.Usage("there is no class %q; there are %s", name,
					strings.Join(timing.Names(o.Planted), ", "))
			}
		}
	}
	return o, sizes, ratio, f.doors(&o)
}

// doors parses --door. To measure the command, the program runs itself as a child process.
func (f *timingFlags) doors(o *timing.Options) error {
	switch f.door {
	case "", "both":
		o.Doors = []timing.Door{timing.Library, timing.Command}
	case string(timing.Library):
		o.Doors = []timing.Door{timing.Library}
		return nil
	case string(timing.Command):
		o.Doors = []timing.Door{timing.Command}
	default:
		return console.Usage("--door must be library, command or both, not %q", f.door)
	}
	program, err := os.Executable()
	o.Program = []string{program}
	return err
}

// timingProgress returns a function that shows progress, or nil if stderr is no terminal.
func timingProgress(s *console.Console, rows int64) func(int, time.Duration) {
	if !console.Obeys(s.Stderr) {
		return nil
	}
	last := time.Time{}
	return func(runs int, left time.Duration) {
		if now := time.Now(); now.Sub(last) > console.Beat {
			last = now
			s.Note("\r\033[K%s rows: %s runs of each class … %s left", curator.Thousands(rows), render.Thousands(runs),
				roundTime(left))
		}
	}
}

func clearLine(s *console.Console) {
	if console.Obeys(s.Stderr) {
		s.Note("\r\033[K")
	}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.3g", float64(d)/float64(time.Millisecond))
}

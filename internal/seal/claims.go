package seal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dither/internal/policy"
)

// ledgerFile, in a home, shows that the home and its budget still exist.
const ledgerFile = "ledger.log"

// ClaimedError reports that another home answers questions about the same source.
type ClaimedError struct {
	Source string // the resolved path
	Home   string // the other home's folder
}

// Error names the source and the other home, and explains the harm.
func (e *ClaimedError) Error() string {
	return fmt.Sprintf(
		"the source %s is already sealed in the home %s, under that home's own budget: a second budget for "+
			"the same rows would double the risk of each person in them. Ask there, or share the source on purpose",
		e.Source, e.Home)
}

// claims is the user's registry of which home sealed which source, by resolved path and by content. It lies outside
// all homes, in $XDG_STATE_HOME/dither/claims or ~/.local/state/dither/claims. It only guards against mistakes: it
// does not notice another user, another machine, an edited copy of a file or a deleted registry.
type claims struct {
	folder string   // "" if no claim is made
	inner  string   // the table inside a .duckdb file
	tables []string // for a source on a server, FORMAT:CLUSTER/… of each table. They are claimed instead of the path
	self   holder
	shared bool
	now    func() time.Time
	report *Report
}

type holder struct {
	Home     string    `json:"home"`
	LedgerID string    `json:"ledger_id"`
	Table    string    `json:"table"`
	Since    time.Time `json:"since"`
}

type claimJSON struct {
	Format  int      `json:"format"`
	Kind    string   `json:"kind"` // "path" or "content"
	Subject string   `json:"subject"`
	Holders []holder `json:"holders"`
}

func newClaims(home string, t *policy.Table, opt Options, report *Report) *claims {
	c := &claims{
		shared: opt.Shared, now: func() time.Time { return now(opt).UTC().Truncate(time.Second) },
		report: report,
	}
	if t.Public {
		return c
	}
	if !t.Source.Live() { // a server's identity of a table is not its name, so renaming does not change it
		c.inner = t.Source.Table
	}
	if opt.LedgerID == "" {
		report.warn("this home has no ledger yet, so the source is not claimed for it")
		return c
	}
	getenv := opt.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	state := getenv("XDG_STATE_HOME")
	if user := getenv("HOME"); !filepath.IsAbs(state) && filepath.IsAbs(user) {
		state = filepath.Join(user, ".local", "state")
	}
	if !filepath.IsAbs(state) {
		report.warn(
			"neither XDG_STATE_HOME nor HOME is set, so the source is neither claimed nor checked for another home's claim")
		return c
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	c.folder = filepath.Join(state, "dither", "claims")
	c.self = holder{Home: home, LedgerID: opt.LedgerID, Table: t.Name, Since: c.now()}
	return c
}

// subject is a source path, a server table or a content that a claim may concern. Some subjects are only checked
// (look), and some only claimed (claim).
type subject struct {
	claimJSON
	look, claim bool
}

func (c *claims) subjects(paths, contents []string, rows int64) []subject {
	var list []subject
	add := func(kind, of string, look, claim bool) {
		if c.inner != "" {
			of += "#" + c.inner
		}
		list = append(list, subject{claimJSON{Format: 1, Kind: kind, Subject: of}, look, claim})
	}
	for _, t := range c.tables {
		at, in, _ := strings.Cut(t, "/")
		format, cluster, _ := strings.Cut(at, ":")
		if cluster == unknown { // a table of an unknown cluster may be a table of any known cluster
			add("path", t, false, true)
			add("path", format+":*/"+in, true, true)
			continue
		}
		add("path", t, true, true)
		add("path", format+":"+unknown+"/"+in, true, false)
		add("path", format+":*/"+in, false, true)
	}
	for _, path := range paths {
		if len(c.tables) == 0 {
			add("path", path, true, true)
		}
	}
	if rows > 0 { // all files without rows have the same content, so that content identifies nothing
		for _, content := range contents {
			add("content", content, true, true)
		}
	}
	return list
}

func (c *claims) file(s claimJSON) string {
	sum := sha256.Sum256([]byte(s.Kind + ":" + s.Subject))
	return filepath.Join(c.folder, hex.EncodeToString(sum[:16])+".json")
}

// check returns a *ClaimedError if another home has claimed one of the paths.
func (c *claims) check(paths []string) error {
	if c.folder == "" || c.shared {
		return nil
	}
	for _, s := range c.subjects(paths, nil, 1) {
		if _, others := c.judge(c.load(s.claimJSON)); s.look && others != "" {
			return &ClaimedError{Source: s.Subject, Home: others}
		}
	}
	return nil
}

// hold checks paths and contents, runs publish, and records the claim if publish succeeded. It holds the registry's
// lock all the time. If the registry cannot be used, hold adds a warning to the report.
func (c *claims) hold(ctx context.Context, paths, contents []string, rows int64, publish func() error) error {
	if c.folder == "" {
		return publish()
	}
	err := os.MkdirAll(c.folder, 0o700)
	var lock *os.File
	if err == nil {
		lock, err = lockFile(ctx, filepath.Join(c.folder, "lock"))
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		c.report.warn("the source could not be claimed for this home: " + err.Error())
		return publish()
	}
	defer func() { _ = lock.Close() }()
	var updated []claimJSON
	subjects := c.subjects(paths, contents, rows)
	// this home has claimed this server table before: the user has decided to share it
	held := slices.ContainsFunc(subjects, func(s subject) bool {
		return len(c.tables) > 0 && s.Kind == "path" &&
			slices.ContainsFunc(c.load(s.claimJSON),
				func(h holder) bool { return h.Home == c.self.Home && h.LedgerID == c.self.LedgerID })
	})
	for _, s := range subjects {
		loaded := c.load(s.claimJSON)
		kept, other := c.judge(loaded)
		if s.look {
			if other != "" && !c.shared && (s.Kind != "path" || !held) {
				return &ClaimedError{Source: strings.Join(paths, ", "), Home: other}
			}
			c.tell(loaded, kept)
		}
		if s.claim {
			s.Holders = append(kept, c.self)
			updated = append(updated, s.claimJSON)
		}
	}
	if err := publish(); err != nil {
		return err
	}
	for _, s := range updated {
		text, err := json.MarshalIndent(s, "", "  ")
		if err == nil {
			err = replaceFile(c.file(s), append(text, '\n'))
		}
		if err != nil {
			c.report.warn("the source could not be claimed for this home: " + err.Error())
			break
		}
	}
	return nil
}

// load returns the holders of a subject's claim: the homes that sealed this path, table or content. It returns none for
// a missing or damaged claim.
func (c *claims) load(s claimJSON) []holder {
	text, err := os.ReadFile(c.file(s))
	var found claimJSON
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || found.Kind != s.Kind || found.Subject != s.Subject:
		c.report.warn("a damaged claim on the source was ignored: " + c.file(s))
		return nil
	}
	return found.Holders
}

// judge returns the other homes that keep their claim, and a home that forbids this one to seal, or "". An existing
// home with another ledger forbids it, unless this home already has a claim because the source was shared.
func (c *claims) judge(holders []holder) (kept []holder, forbids string) {
	mine := false
	for _, h := range holders {
		switch {
		case h.Home == c.self.Home:
			mine = mine || h.LedgerID == c.self.LedgerID
		case alive(h):
			kept = append(kept, h)
			if h.LedgerID != c.self.LedgerID && forbids == "" {
				forbids = h.Home
			}
		}
	}
	if mine {
		forbids = ""
	}
	return kept, forbids
}

// tell adds to the report what the owner should know about other homes that have a claim to the same source.
func (c *claims) tell(loaded, kept []holder) {
	for _, h := range kept {
		if h.LedgerID == c.self.LedgerID {
			c.report.warn("the home " + h.Home +
				" has a copy of this home's ledger: the budget does not bound the losses of both homes together")
			continue
		}
		c.report.SharedWith = appendNew(c.report.SharedWith, h.Home)
	}
	for _, h := range loaded {
		if h.LedgerID != c.self.LedgerID && (h.Home == c.self.Home || !alive(h)) {
			c.report.warn("the source was claimed by the home " + h.Home +
				" under a ledger that no longer exists; its losses are not in this budget")
		}
	}
}

func alive(h holder) bool {
	_, err := os.Stat(filepath.Join(h.Home, ledgerFile))
	return !errors.Is(err, fs.ErrNotExist)
}

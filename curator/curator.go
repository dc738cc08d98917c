// Package curator is the Go API of dither. It parses, plans and explains questions, and presents what the kernel
// (internal/release) releases.
//
// A home holds the owner's policy, the sealed tables, and the ledger of every answer about its population. [Open]
// returns an [Owner], who can ask questions and also has the owner's operations. A [Session] can only ask
// questions, and [Owner.For] binds one to an analyst. [Session.Answer] takes a question in SQL and returns noisy
// numbers with margins of error. Its price in ε is reserved durably in the ledger before any row is read. When the
// budget is spent, new questions are refused. Earlier questions can be asked again, free.
//
// The promise, for a pure budget ε: take any two databases that are neighbours by the policy, and any set of
// possible answers. The probability of that set from one database is at most e^ε times its probability from the
// other. This holds for all answers together. It rests on four claims, each proved beside its code:
//
//   - the engine's statement bounds what a unit contributes (internal/plan);
//   - noise is sampled exactly (internal/sample);
//   - the price of a mechanism is its loss (mechanism);
//   - the filter admits no more than the budget, for adaptively chosen questions (privacy).
package curator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"dither/internal/ledger"
	"dither/internal/policy"
	"dither/internal/release"
)

// Owner is an open home with all rights: it asks questions, and has the operations that only the data owner may
// use. Several goroutines may use it, and several processes may open one home.
type Owner struct{ *session }

// session has an unexported name, so that no other package can build an Owner from a Session.
type session = Session

// Session returns a session with the owner's right to name any analyst in a request. Pass it to code that only asks
// questions.
func (c *Owner) Session() *Session { return c.session }

// Session asks questions of an open home. A session from [Owner.For] is bound to one analyst: a request without a
// name counts as that analyst's, and a request with another name is refused. A Session has none of the owner's
// operations, so a server may hold one for an analyst.
type Session struct {
	*house
	analyst string // the analyst that the session is bound to, if bound
	bound   bool
}

// house is the state that all sessions of an open home share.
type house struct {
	home     string
	policy   *policy.Policy
	ledger   release.Records
	kernel   *release.Kernel // the only way to read rows for a question
	listener func(error)     // Options.OwnerErrors, or nil
	losses   losses
	plans    plans
	// the error for questions if the policy file was not adopted because it would lose unfinished trainings
	held atomic.Pointer[Error]
	stop func() // stops the background verification; nil if there is none
}

// For returns a session that is bound to an analyst. With "", the session's requests must not name an analyst.
// Closing the home ends the session.
func (c *Owner) For(analyst string) *Session {
	return &Session{house: c.house, analyst: analyst, bound: true}
}

// asks fills in the session's analyst if the request names nobody, and refuses any other name. An unbound session
// accepts every name.
func (c *Session) asks(analyst *string) error {
	switch {
	case !c.bound || *analyst == c.analyst:
		return nil
	case *analyst == "":
		*analyst = c.analyst
		return nil
	}
	return &Error{Code: CodeAnalyst, Message: "the session belongs to another analyst", Hint: "leave Analyst out"}
}

// Options change how a home runs, but not its privacy promise. The zero value is the default.
type Options struct {
	// Timeout limits the engine's time for one answer; 0 is ten minutes. A question that takes longer fails, and
	// stays charged.
	Timeout time.Duration
	// Analysts means that answers go to analysts. Then the home opens only if its policy has an answer_delay,
	// because analysts can see how long answers take.
	Analysts bool
	// OwnerErrors receives an engine's error text when a question fails. The text may quote rows: show it to the
	// owner only, never to an analyst.
	OwnerErrors func(error)
	// VerifyLedger is the pause between two verifications of the whole ledger in the background, for processes that
	// run long. 0 means none: opening the home only verifies the entries since the newest checkpoint, and each
	// entry that is used. If a verification fails, OwnerErrors receives the error, and every further question is
	// refused.
	VerifyLedger time.Duration
}

// Init makes a folder a home. It creates the folder if needed, and the ledger. In an empty folder it also writes a
// .gitignore that excludes everything. It returns an error if there is a ledger already. The owner writes the
// policy file.
func Init(home string) error {
	if _, err := absolute(home); err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return homeError(err)
	}
	found, err := os.ReadDir(home)
	if err != nil {
		return homeError(err)
	}
	if err := ledger.Create(home, release.NewID(), time.Now()); err != nil {
		return toOwner(err)
	}
	if len(found) > 0 {
		return nil // in a folder with other files, the user decides what version control tracks
	}
	// The home's files are private: version control must not pick them up by default.
	if err := os.WriteFile(filepath.Join(home, ".gitignore"), []byte("*\n"), 0o600); err != nil {
		return homeError(err)
	}
	return nil
}

// Open opens a home. If the policy file differs from the policy in force, but the change does not affect the
// privacy accounting, Open adopts the file. Otherwise Open succeeds, but questions are refused with
// CodePolicyChanged until the owner calls [Owner.AcceptPolicy].
func Open(home string) (*Owner, error) { return OpenWith(home, Options{}) }

// OpenWith is Open with options.
func OpenWith(home string, options Options) (*Owner, error) {
	home, err := absolute(home)
	if err != nil {
		return nil, err
	}
	p, err := policy.Load(filepath.Join(home, policy.FileName))
	if err != nil {
		e := homeError(err)
		if errors.Is(err, os.ErrNotExist) {
			e.Hint = "create a home with `dither init DIR`, or name an existing one with -C DIR or DITHER_HOME"
		}
		return nil, e
	}
	if options.Analysts && p.Delay == nil {
		return nil, &Error{
			Code:    CodePolicy,
			Message: "the policy has no answer_delay: analysts would see how long each answer takes, which depends on rows",
			Hint:    "declare answer_delay in the policy (docs/reference/policy.md)",
		}
	}
	p.Fix()
	c := &Owner{&Session{house: &house{home: home, policy: p, listener: options.OwnerErrors}}}
	k, err := release.Open(home, p, options.Timeout, c.tellOwner)
	if err != nil {
		e := toOwner(err)
		if errors.Is(err, ledger.ErrMissing) {
			e.Hint = "run `dither init " + home + "` to create one"
		}
		return nil, e
	}
	c.ledger, c.kernel = k.Records(), k
	if err := c.adoptHarmless(); err != nil {
		return nil, errors.Join(toOwner(err), k.Close())
	}
	k.Sweep()
	if options.VerifyLedger > 0 {
		background, stop := context.WithCancel(context.Background())
		c.stop = stop
		c.ledger.VerifyInBackground(background, options.VerifyLedger, c.tellOwner)
	}
	return c, nil
}

// Close closes the home. A process that ends without it loses nothing.
func (c *Owner) Close() error {
	if c.stop != nil {
		c.stop()
	}
	return c.kernel.Close()
}

// absolute returns a home's absolute path. It refuses a path with characters of a file pattern, because the
// confined engine accepts no path that could be one.
func absolute(home string) (string, error) {
	home, err := filepath.Abs(home)
	if err != nil {
		return "", homeError(err)
	}
	if strings.ContainsAny(home, "*?[") {
		return "", &Error{
			Code:    CodeHome,
			Message: "the home's path " + home + ` contains one of "*?["`,
			Hint:    "use another folder",
		}
	}
	return home, nil
}

func homeError(err error) *Error {
	return &Error{Code: CodeHome, Message: err.Error(), cause: err}
}

// tellOwner passes an error that only the owner may read to Options.OwnerErrors.
func (c *Session) tellOwner(err error) {
	if c.listener != nil {
		c.listener(err)
	}
}

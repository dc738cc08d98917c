// Package curator is the Go API of dither. It parses questions, plans and explains them, and presents what the kernel
// (internal/release) releases.
//
// A home has a policy that the data owner wrote, sealed tables, and the ledger of everything that was answered about
// the population in them. Open gives an Owner, who also has the owner's verbs. A Session asks questions alone, and
// Owner.For binds one to an analyst. Answer takes a question in SQL and gives noisy numbers with error bars, at a price
// in ε that it reserves durably in the ledger before any row is read. When the budget is spent it refuses; what was
// answered before can be asked again, free.
//
// What is promised: with all answers together, any two databases that are neighbours in the policy's sense give every
// set of answers with probabilities within a factor of e^ε of each other, ε being the budget. It rests on four things,
// each proved where it stands: what a unit can contribute is bounded by the statement that the engine runs
// (internal/plan); noise is sampled exactly (internal/sample); the mechanism's loss is its price (mechanism); the
// filter admits no more than the budget, for questions chosen adaptively (privacy).
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

// Owner is an open home in its owner's hands: all questions, and the verbs that only the owner has. It may be used by
// several goroutines, and several processes may open one home.
type Owner struct{ *session }

// session is what an owner embeds: by this name nobody outside makes an owner of a session.
type session = Session

// Session returns the owner's session, for code that asks questions. It is bound to no analyst, and any request may name one.
func (c *Owner) Session() *Session { return c.session }

// Session asks questions of an open home. A session that Owner.For made is bound to one analyst: a request that names
// nobody is that analyst's, and one that names another is refused. It has none of the owner's verbs, so a door may hold
// it for an analyst.
type Session struct {
	*house
	analyst string // that it is bound to
	bound   bool
}

// house is what all sessions of an open home share.
type house struct {
	home     string
	policy   *policy.Policy
	ledger   release.Records
	kernel   *release.Kernel // the one way to rows
	listener func(error)     // Options.OwnerErrors; nil where nobody listens
	losses   losses
	plans    plans
	held     atomic.Pointer[Error] // why the policy file did not take over: it would lose unfinished trainings
	stop     func()                // what runs in the background; nil where nothing does
}

// For is a session that is bound to an analyst; "" is who names nobody. It ends with the home.
func (c *Owner) For(analyst string) *Session {
	return &Session{house: c.house, analyst: analyst, bound: true}
}

// asks says who asks: the analyst that the session is bound to, if it is. It refuses another name.
func (c *Session) asks(analyst *string) error {
	switch {
	case !c.bound || *analyst == c.analyst:
		return nil
	case *analyst == "":
		*analyst = c.analyst
		return nil
	}
	return &Error{Code: CodeAnalyst, Message: "the session is another analyst's", Hint: "leave Analyst out"}
}

// Options change how a home runs, not what it promises. The zero value is the default.
type Options struct {
	// Timeout bounds the engine's part of one answer; 0 is ten minutes. A question that takes longer fails, and stays
	// charged.
	Timeout time.Duration
	// Analysts says that the answers go to analysts. Then a home is opened only if its policy has an answer_delay: they
	// would see how long answers take.
	Analysts bool
	// OwnerErrors receives what an engine said when a question failed. It may quote rows: it is for the owner's eyes
	// only, and must reach no analyst.
	OwnerErrors func(error)
	// VerifyLedger is for processes that run long: the whole ledger is verified in the background, with this pause
	// between two times. 0 is never: opening verifies the entries since the newest checkpoint, and each entry that is
	// used. Where something is wrong, OwnerErrors receives it, and no question is answered any more.
	VerifyLedger time.Duration
}

// Init makes a folder a home: it creates the folder if need be, and the ledger; where nothing was before, also a
// .gitignore of everything. It refuses where there is a ledger already. The policy file is the owner's to write.
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
		return nil // whoever keeps other files here decides what a version control sees
	}
	// What a home holds is private: no version control may pick it up by itself.
	if err := os.WriteFile(filepath.Join(home, ".gitignore"), []byte("*\n"), 0o600); err != nil {
		return homeError(err)
	}
	return nil
}

// Open opens a home. A policy file that is not the one in force is adopted where the change touches nothing that the
// budget rests on; else Open succeeds and questions are refused with CodePolicyChanged until the owner accepts it
// (AcceptPolicy).
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
			e.Hint = "`dither init DIR` makes a home; -C DIR or DITHER_HOME says where one is"
		}
		return nil, e
	}
	if options.Analysts && p.Delay == nil {
		return nil, &Error{
			Code:    CodePolicy,
			Message: "the policy has no answer_delay: analysts would see how long each answer takes, which depends on rows",
			Hint:    "the owner declares one (docs/reference/policy.md)",
		}
	}
	p.Fix()
	c := &Owner{&Session{house: &house{home: home, policy: p, listener: options.OwnerErrors}}}
	k, err := release.Open(home, p, options.Timeout, c.tellOwner)
	if err != nil {
		e := toOwner(err)
		if errors.Is(err, ledger.ErrMissing) {
			e.Hint = "`dither init " + home + "` begins one"
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

// Close releases the home. Nothing is lost by not closing.
func (c *Owner) Close() error {
	if c.stop != nil {
		c.stop()
	}
	return c.kernel.Close()
}

// absolute is a home's full path. One with a file pattern's characters is refused: the shut engine matches no patterns,
// and takes no path that could be one.
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

// tellOwner hands over what only the owner may read.
func (c *Session) tellOwner(err error) {
	if c.listener != nil {
		c.listener(err)
	}
}

package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// FormatVersion is the version of the lines that this program writes, and the newest that it reads.
//
// Each line has the least version that can express it, so that older programs can read a ledger that uses nothing new.
// Version 2 adds parts, grants, analysts and openings. Version 3 adds the subjects by which answers are found, the
// options named beside a question, and questions that were given up. Version 4 adds free fragments, corrections of the
// clock, recoveries, checkpoints, and questions and steps that were given up and count towards a suspension.
const FormatVersion = 4

// maxLine bounds a line without its newline, so that a hostile file cannot exhaust memory.
const maxLine = 64<<20 + 64<<10

// Hash is the SHA-256 of a line.
type Hash [sha256.Size]byte

// String writes h in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes what String writes.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what String wrote: 64 lower-case hexadecimal digits.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != 2*len(h) || !isHex(string(text)) {
		return errors.New("not a hash")
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Head names the newest entry of a log; its hash covers all entries before it. It is the checkpoint that an owner keeps
// elsewhere.
type Head struct {
	Index uint64
	Hash  Hash
}

// String writes "INDEX:HASH".
func (h Head) String() string { return fmt.Sprintf("%d:%s", h.Index, h.Hash) }

// MarshalText writes what String writes.
func (h Head) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what String wrote.
func (h *Head) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHead(string(text))
	return err
}

// ParseHead reads what String wrote, with or without one newline after it.
func ParseHead(text string) (Head, error) {
	index, hash, ok := strings.Cut(strings.TrimSuffix(text, "\n"), ":")
	if !ok {
		return Head{}, fmt.Errorf("%w: a head is INDEX:HASH", ErrInvalid)
	}
	var h Head
	var err error
	if h.Index, err = strconv.ParseUint(index, 10, 64); err != nil || strconv.FormatUint(h.Index, 10) != index {
		return Head{}, fmt.Errorf("%w: a head begins with the index of an entry", ErrInvalid)
	}
	if err := h.Hash.UnmarshalText([]byte(hash)); err != nil {
		return Head{}, fmt.Errorf("%w: a head ends with 64 hexadecimal digits", ErrInvalid)
	}
	return h, nil
}

// frame is a line whose body is not yet decoded. The keys are written in this order.
type frame struct {
	V    int             `json:"v"`
	N    uint64          `json:"n"`
	Prev Hash            `json:"prev"`
	At   time.Time       `json:"at"`
	Kind Kind            `json:"kind"`
	Body json.RawMessage `json:"body"`
}

// encodeLine writes an entry as a line, without its newline.
func encodeLine(index uint64, prev Hash, at time.Time, body Body) ([]byte, error) {
	raw, err := marshal(body)
	if err != nil {
		return nil, err
	}
	return marshal(frame{V: version(body), N: index, Prev: prev, At: at.UTC(), Kind: body.kind(), Body: raw})
}

// marshal is json.Marshal without escaping <, > and &, because people read the log.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// errFragment reports a line that is not JSON: the rest of an unfinished write. No proper prefix of an entry is JSON.
// So every other unreadable line is corruption, and no unfinished entry is mistaken for it.
var errFragment = errors.New("not a whole entry")

// decodeLine decodes one line strictly. Its error is errFragment, ErrNewer, or a description of the fault.
func decodeLine(line []byte) (Entry, error) {
	if !json.Valid(line) {
		return Entry{}, errFragment
	}
	var f frame
	err := unmarshalStrict(line, frameShape, &f)
	if err != nil && newer(line) || err == nil && f.V > FormatVersion {
		return Entry{}, ErrNewer
	}
	if err == nil && f.V < 1 {
		err = errors.New("not a version")
	}
	if err != nil {
		return Entry{}, err
	}
	body, err := decodeBody(f.Kind, f.Body)
	if err != nil {
		return Entry{}, err
	}
	if err := body.validate(); err != nil {
		return Entry{}, err
	}
	if f.V != version(body) {
		return Entry{}, errors.New("its version is not the least that can express it")
	}
	return Entry{Index: f.N, Kind: f.Kind, Time: f.At, Prev: f.Prev, Hash: sha256.Sum256(line), Body: body}, nil
}

// version is the least version of the format that a body can be written in.
func version(b Body) int {
	switch b := b.(type) {
	case Adoption:
		if len(b.Terms.Parts) > 0 || b.Terms.Grant != nil || len(b.Terms.Analysts) > 0 {
			return 2
		}
	case Reservation:
		switch {
		case b.Caps != nil, b.Subject != nil:
			return 3
		case b.Confined != nil, b.Analyst != "":
			return 2
		}
	case Opening:
		return 2
	case Correction, Recovery, StepGivenUp:
		return 4
	case Failure:
		switch {
		case b.Counted:
			return 4
		case b.GivenUp:
			return 3
		}
	case Checkpoint:
		return 4
	case Torn:
		if b.Unacknowledged {
			return 4
		}
	}
	return 1
}

// newer reports whether a line has a newer version. It reads v alone, since nothing else of a newer line may be
// understood.
func newer(line []byte) bool {
	var probe struct {
		V int `json:"v"`
	}
	return json.Unmarshal(line, &probe) == nil && probe.V > FormatVersion
}

// The shapes of what a line holds.
var (
	frameShape       = shapeOf(reflect.TypeFor[frame]())
	genesisShape     = shapeOf(reflect.TypeFor[Genesis]())
	adoptionShape    = shapeOf(reflect.TypeFor[Adoption]())
	sealShape        = shapeOf(reflect.TypeFor[Seal]())
	reservationShape = shapeOf(reflect.TypeFor[Reservation]())
	releaseShape     = shapeOf(reflect.TypeFor[Release]())
	stepShape        = shapeOf(reflect.TypeFor[Step]())
	failureShape     = shapeOf(reflect.TypeFor[Failure]())
	stepGivenUpShape = shapeOf(reflect.TypeFor[StepGivenUp]())
	resumeShape      = shapeOf(reflect.TypeFor[Resume]())
	openingShape     = shapeOf(reflect.TypeFor[Opening]())
	recoveryShape    = shapeOf(reflect.TypeFor[Recovery]())
	correctionShape  = shapeOf(reflect.TypeFor[Correction]())
	tornShape        = shapeOf(reflect.TypeFor[Torn]())
	checkpointShape  = shapeOf(reflect.TypeFor[Checkpoint]())
)

func decodeBody(kind Kind, raw []byte) (Body, error) {
	switch kind {
	case KindGenesis:
		return decodeAs[Genesis](raw, genesisShape)
	case KindPolicy:
		return decodeAs[Adoption](raw, adoptionShape)
	case KindSeal:
		return decodeAs[Seal](raw, sealShape)
	case KindReserve:
		return decodeAs[Reservation](raw, reservationShape)
	case KindRelease:
		return decodeAs[Release](raw, releaseShape)
	case KindStep:
		return decodeAs[Step](raw, stepShape)
	case KindFailure:
		return decodeAs[Failure](raw, failureShape)
	case KindStepGivenUp:
		return decodeAs[StepGivenUp](raw, stepGivenUpShape)
	case KindResume:
		return decodeAs[Resume](raw, resumeShape)
	case KindOpening:
		return decodeAs[Opening](raw, openingShape)
	case KindRecovery:
		return decodeAs[Recovery](raw, recoveryShape)
	case KindClock:
		return decodeAs[Correction](raw, correctionShape)
	case KindTorn:
		return decodeAs[Torn](raw, tornShape)
	case KindCheckpoint:
		return decodeAs[Checkpoint](raw, checkpointShape)
	}
	return nil, errors.New("unknown kind of entry")
}

func decodeAs[T Body](raw []byte, s *shape) (Body, error) {
	var body T
	if err := unmarshalStrict(raw, s, &body); err != nil {
		return nil, err
	}
	return body, nil
}

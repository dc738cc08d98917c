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

// FormatVersion is the newest version of lines that this program writes and reads.
//
// Each line has the least version that can express it, so older programs can read a ledger that uses nothing newer.
// Version 2 adds parts, grants, analysts and openings. Version 3 adds the subjects by which answers are found, the
// bounds that accompany a question, and cancelled questions. Version 4 adds free fragments, corrections of the
// clock, recoveries and checkpoints. It also adds cancelled questions and steps that count towards a suspension.
const FormatVersion = 4

// maxLine is the largest size of a line in bytes, without its newline. It keeps a hostile file from exhausting
// memory.
const maxLine = 64<<20 + 64<<10

// Hash is the SHA-256 of a line, without its newline.
type Hash [sha256.Size]byte

// String returns h in lower-case hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns the output of String.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText parses the output of String: 64 lower-case hexadecimal digits.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != 2*len(h) || !isHex(string(text)) {
		return errors.New("not a hash")
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Head is the index and the hash of the newest entry of a log. The hash covers all earlier entries. Owners keep
// heads elsewhere, to detect later that a ledger was rolled back or rewritten.
type Head struct {
	Index uint64
	Hash  Hash
}

// String returns h as "INDEX:HASH".
func (h Head) String() string { return fmt.Sprintf("%d:%s", h.Index, h.Hash) }

// MarshalText returns the output of String.
func (h Head) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText parses the output of String.
func (h *Head) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHead(string(text))
	return err
}

// ParseHead parses the output of Head.String, with or without one newline at the end.
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

// frame is a line with its body still encoded. Lines have the keys in this order.
type frame struct {
	V    int             `json:"v"`
	N    uint64          `json:"n"`
	Prev Hash            `json:"prev"`
	At   time.Time       `json:"at"`
	Kind Kind            `json:"kind"`
	Body json.RawMessage `json:"body"`
}

// encodeLine returns an entry as a line, without its newline.
func encodeLine(index uint64, prev Hash, at time.Time, body Body) ([]byte, error) {
	if line, ok := encodePlain(index, prev, at, body); ok {
		return line, nil
	}
	return encodeWhole(index, prev, at, body)
}

func encodeWhole(index uint64, prev Hash, at time.Time, body Body) ([]byte, error) {
	raw, err := marshal(body)
	if err != nil {
		return nil, err
	}
	return marshal(frame{V: version(body), N: index, Prev: prev, At: at.UTC(), Kind: body.kind(), Body: raw})
}

// marshal is json.Marshal without escaping of <, > and &, because people read the log.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// errFragment reports a line that is not JSON, so it is a part of an interrupted write. No proper prefix of an
// entry is JSON. Therefore an unreadable line that is JSON is corruption, never an interrupted write.
var errFragment = errors.New("not a whole entry")

// decodeLine decodes one line strictly. Its error is errFragment, ErrNewer, or a description of what is wrong.
func decodeLine(line []byte) (Entry, error) {
	e, ok := decodePlain(line)
	if !ok {
		var err error
		if e, err = decodeWhole(line); err != nil {
			return Entry{}, err
		}
	}
	e.Hash = sha256.Sum256(line)
	return e, nil
}

// decodeWhole is decodeLine without the hash.
func decodeWhole(line []byte) (Entry, error) {
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
	return Entry{Index: f.N, Kind: f.Kind, Time: f.At, Prev: f.Prev, Body: body}, nil
}

// version returns the least version of the format that can express a body.
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

// newer reports whether a line has a newer version than this program reads. It reads only the key v, because a
// newer line may hold other things in a form unknown to this program.
func newer(line []byte) bool {
	var probe struct {
		V int `json:"v"`
	}
	return json.Unmarshal(line, &probe) == nil && probe.V > FormatVersion
}

// The shapes of a line and of each kind of body: the keys and nesting that its JSON must have.
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

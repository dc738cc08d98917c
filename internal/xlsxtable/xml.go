package xlsxtable

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// The limits of a part's XML, far beyond those of a workbook that Excel writes. Package xml keeps an entry for each
// open element and each namespace in force, and an attribute of five bytes takes ten times as many in memory.
const (
	maxDepth      = 100
	maxAttributes = 250
	maxToken      = 4 << 20   // bytes of a tag, a text between tags, a comment or the like
	maxText       = 4 << 20   // bytes in the text of a cell, which Excel bounds by 32,767 characters
	maxElements   = 1_000_000 // of a part that is decoded as a whole
)

// malformed says why XML is refused that package xml accepts.
type malformed string

func (m malformed) Error() string { return string(m) }

// reason returns why XML cannot be read.
func reason(err error) string {
	if m := malformed(""); errors.As(err, &m) {
		return string(m)
	}
	return "it is not well-formed XML"
}

// tokens reads the tokens of one XML element from a part. It refuses all that would take memory out of proportion,
// and what package xml accepts around the element and Excel does not.
type tokens struct {
	d     *xml.Decoder
	left  int  // the number of further elements, or negative for any number
	depth int  // the number of open elements
	ended bool // whether the element was closed
	in    *rationed
}

func newTokens(part []byte, elements int) *tokens {
	in := &rationed{Reader: bytes.NewReader(bytes.TrimPrefix(part, []byte("\ufeff")))}
	return &tokens{d: xml.NewDecoder(in), in: in, left: elements}
}

// rationed is a reader of which package xml reads a bounded number of bytes for a token. It keeps the whole token in memory.
type rationed struct {
	*bytes.Reader
	left int // the number of further bytes
}

// ReadByte implements [io.ByteReader], by which package xml reads.
func (r *rationed) ReadByte() (byte, error) {
	if r.left == 0 && r.Len() > 0 {
		return 0, malformed("an element, a text or a comment is too long")
	}
	r.left--
	return r.Reader.ReadByte()
}

// newDecoder returns a decoder of a part's XML, with any number of elements.
func newDecoder(part []byte) *xml.Decoder { return xml.NewTokenDecoder(newTokens(part, -1)) }

// Token returns the next token before its namespaces are resolved.
func (t *tokens) Token() (xml.Token, error) {
	t.in.left = maxToken
	token, err := t.d.RawToken()
	if errors.Is(err, io.EOF) && !t.ended {
		return nil, &xml.SyntaxError{Msg: "unexpected EOF"}
	}
	switch x := token.(type) {
	case xml.StartElement:
		switch {
		case t.ended:
			return nil, malformed("it goes on after its end")
		case t.depth == maxDepth:
			return nil, malformed("its elements are nested too deeply")
		case len(x.Attr) > maxAttributes:
			return nil, malformed("an element has too many attributes")
		case t.left == 0:
			return nil, malformed("it has too many elements")
		}
		t.depth++
		t.left--
	case xml.EndElement:
		t.depth--
		t.ended = t.depth == 0
	case xml.CharData:
		if t.depth == 0 && len(bytes.TrimSpace(x)) > 0 {
			return nil, malformed("it has text outside its elements")
		}
	case xml.Directive: // a document type can give attributes that no element shows
		return nil, malformed("it has a document type")
	}
	return token, err
}

// plainText reads the rest of an element whose start was read, and returns its text. The element has no others inside.
func plainText(d *xml.Decoder) (string, error) {
	var b strings.Builder
	for {
		token, err := d.Token()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.EndElement:
			return b.String(), nil
		case xml.StartElement:
			return "", malformed("a value has elements inside")
		case xml.CharData:
			if b.Write(t); b.Len() > maxText {
				return "", malformed("a text is too long")
			}
		}
	}
}

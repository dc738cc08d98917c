package csvtable

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"dither/internal/policy"
)

// byteOrderMark is the mark in UTF-8 with which many programs begin a file.
const byteOrderMark = "\ufeff"

// Text returns the text of a file as UTF-8 without a byte order mark. The encoding is the declared one: UTF-8, UTF-16
// or Windows-1252. Without a declaration, a file that begins with the byte order mark of UTF-16 is read as UTF-16:
// these two bytes are not valid UTF-8. Bytes that are not valid in the encoding become the byte 0xFF, which is not
// valid UTF-8 either. A byte order mark that contradicts the declaration is an *Error.
func Text(r io.Reader, encoding string) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	mark, _ := in.Peek(len(byteOrderMark))
	marked := bytes.Equal(mark, []byte(byteOrderMark))
	if encoding != "" && marked {
		return nil, &Error{Message: "the file begins with the byte order mark of UTF-8, but is declared as " + encoding}
	}
	if encoding == policy.Windows1252 {
		return bufio.NewReaderSize(&transcoder{in: in, next: nextWindows1252}, 1<<16), nil
	}
	for _, order := range []struct {
		mark string
		next func(*bufio.Reader) (rune, error)
	}{
		{"\xff\xfe", func(in *bufio.Reader) (rune, error) { return nextUTF16(in, 0) }},
		{"\xfe\xff", func(in *bufio.Reader) (rune, error) { return nextUTF16(in, 1) }},
	} {
		if bytes.HasPrefix(mark, []byte(order.mark)) {
			_, _ = in.Discard(len(order.mark))
			return bufio.NewReaderSize(&transcoder{in: in, next: order.next}, 1<<16), nil
		}
	}
	if encoding == policy.UTF16 && len(mark) > 0 {
		return nil, &Error{Message: "the file is declared as utf-16, but does not begin with a byte order mark"}
	}
	if marked {
		_, _ = in.Discard(len(byteOrderMark))
	}
	return in, nil
}

// invalid stands for bytes that are not valid in a file's encoding.
const invalid rune = -1

// transcoder reads characters in some encoding, and returns them in UTF-8.
type transcoder struct {
	in   *bufio.Reader
	next func(*bufio.Reader) (rune, error)
	err  error
}

// Read implements io.Reader. It fills p as far as whole characters fit.
func (t *transcoder) Read(p []byte) (n int, _ error) {
	var out [utf8.UTFMax]byte
	if len(p) < len(out) {
		return 0, io.ErrShortBuffer
	}
	for t.err == nil && len(p)-n >= len(out) {
		c, err := t.next(t.in)
		switch {
		case err != nil:
			t.err = err
		case c == invalid:
			p[n] = 0xFF
			n++
		default:
			n += utf8.EncodeRune(p[n:], c)
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, t.err
}

// nextUTF16 reads one character. high is the index of a pair's byte that has the higher bits. Half a surrogate pair and
// half a code unit are invalid.
func nextUTF16(in *bufio.Reader, high int) (rune, error) {
	unit := func() (rune, error) {
		pair, err := in.Peek(2)
		if len(pair) < 2 {
			return 0, err
		}
		return rune(pair[1-high])<<8 | rune(pair[high]), nil
	}
	first, err := unit()
	if err != nil {
		if n, _ := in.Discard(1); n == 1 {
			return invalid, nil
		}
		return 0, err
	}
	_, _ = in.Discard(2)
	if !utf16.IsSurrogate(first) {
		return first, nil
	}
	second, err := unit()
	if c := utf16.DecodeRune(first, second); err == nil && c != utf8.RuneError {
		_, _ = in.Discard(2)
		return c, nil
	}
	return invalid, nil
}

// windows1252 has the characters of the bytes 0x80 to 0x9F. Every other byte is the character of the same number.
var windows1252 = [32]rune{
	'€', invalid, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', invalid, 'Ž', invalid,
	invalid, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', invalid, 'ž', 'Ÿ',
}

func nextWindows1252(in *bufio.Reader) (rune, error) {
	b, err := in.ReadByte()
	if b >= 0x80 && b < 0xA0 {
		return windows1252[b-0x80], err
	}
	return rune(b), err
}

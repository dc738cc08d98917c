package release

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
)

// packedFrom is the least number of numbers that a measurement of strategies records in the packed form. Fewer are recorded
// in decimal, as in every release of an older version.
const packedFrom = 1 << 12

// packedBytes returns the size of numbers in the packed form, each of the given width in bytes.
func packedBytes(numbers, width int) int64 {
	return int64(base64.RawStdEncoding.EncodedLen(numbers*width)) + 16 // with the quotes and the width
}

// packed writes numbers for the ledger as one JSON text "W:D": D is the base64 of the numbers, each in W bytes, as two's
// complement, the most significant byte first. W is the least that suffices for all of them. It is about half as long as
// decimal text, and quicker to write, to check and to read.
func packed(numbers []*big.Int) json.RawMessage {
	width := 1
	for _, n := range numbers {
		width = max(width, n.BitLen()/8+1) // with a bit for the sign
	}
	raw, one := make([]byte, len(numbers)*width), new(big.Int)
	whole := new(big.Int).Lsh(big.NewInt(1), uint(8*width))
	for i, n := range numbers {
		to := raw[i*width : (i+1)*width]
		switch {
		case width <= 8:
			for j, word := width-1, uint64(n.Int64()); j >= 0; j, word = j-1, word>>8 {
				to[j] = byte(word)
			}
		case n.Sign() < 0:
			one.Add(n, whole).FillBytes(to)
		default:
			n.FillBytes(to)
		}
	}
	out := append([]byte{'"'}, strconv.Itoa(width)...)
	out = append(out, ':')
	out = base64.RawStdEncoding.AppendEncode(out, raw)
	return append(out, '"')
}

// unpacked reads count numbers in the form of packed. It returns an error that wraps ErrUnreadable for any other text.
func unpacked(text []byte, count int) ([]*big.Int, error) {
	wrong := fmt.Errorf("%w: its numbers are not as packed", ErrUnreadable)
	text = bytes.TrimSuffix(bytes.TrimPrefix(text, []byte{'"'}), []byte{'"'})
	size, digits, found := bytes.Cut(text, []byte{':'})
	width, err := strconv.ParseUint(string(size), 10, 16)
	if err != nil || !found || width == 0 {
		return nil, wrong
	}
	raw, err := base64.RawStdEncoding.Strict().AppendDecode(nil, digits)
	if err != nil || len(raw) != count*int(width) {
		return nil, wrong
	}
	out, room := make([]*big.Int, count), make([]big.Int, count)
	whole := new(big.Int).Lsh(big.NewInt(1), uint(8*width))
	for i, one := range slices.Collect(slices.Chunk(raw, int(width))) {
		out[i] = &room[i]
		if width > 8 {
			if out[i].SetBytes(one); one[0] >= 0x80 {
				out[i].Sub(out[i], whole)
			}
			continue
		}
		word := int64(int8(one[0])) // extends the sign
		for _, b := range one[1:] {
			word = word<<8 | int64(b)
		}
		out[i].SetInt64(word)
	}
	return out, nil
}

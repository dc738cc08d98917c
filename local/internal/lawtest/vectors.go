package lawtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"math/bits"
	"os"
	"testing"

	"dither/internal/entropy"
	"dither/internal/splitmix"
	"dither/local/internal/coin"
)

// Words are the injected random bytes of a test vector. With Stream, they are the SHA-256 hashes of the text "Stream
// 0", "Stream 1" and so on, in this order. Otherwise Bytes has them in hexadecimal digits.
type Words struct {
	Stream string `json:"stream,omitempty"`
	Bytes  string `json:"words,omitempty"`
	Used   int64  `json:"used"` // the number of bytes that the randomizer draws
}

// Streamed calls f with the words of a stream, and returns them.
func Streamed(label string, f func(coin.Chooser)) Words {
	var words []byte
	for i := range 1 << 12 {
		block := sha256.Sum256(fmt.Appendf(nil, "%s %d", label, i))
		words = append(words, block[:]...)
	}
	source := entropy.Recorded(words)
	f(coin.Random{Source: source})
	return Words{Stream: label, Used: source.Consumed()}
}

// Close calls f twice: with a chooser that writes the words down, and with these words, which it returns. A toss of
// them is decided by the very last bit: its number is that of the coin, or the one below.
func Close(seed uint64, f func(coin.Chooser)) Words {
	c := &close{draw: splitmix.At(seed)}
	f(c)
	source := entropy.Recorded(c.words)
	f(coin.Random{Source: source})
	return Words{Bytes: hex.EncodeToString(c.words), Used: source.Consumed()}
}

// close is a chooser that writes down the words of its choices.
type close struct {
	draw  splitmix.Stream
	words []byte
}

// Toss implements coin.Chooser.
func (c *close) Toss(p coin.Coin) bool {
	n := p.Rat()
	n.Mul(n, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 128)))
	digits, u := n.Num().FillBytes(make([]byte, 16)), n.Num()
	heads := c.draw.Below(2) == 0
	if heads {
		u = new(big.Int).Sub(u, big.NewInt(1))
	}
	for i, b := range u.FillBytes(make([]byte, 16)) {
		c.words = append(c.words, b)
		if b != digits[i] { // a toss draws no further byte
			break
		}
	}
	return heads
}

// Below implements coin.Chooser: first a word that is rejected if there is one, then one that is accepted.
func (c *close) Below(n uint64) uint64 {
	width := bits.Len64(n - 1)
	word := func(v uint64) {
		v |= c.draw.Word() << width // bits that are masked
		for i := 0; i < width; i += 8 {
			c.words = append(c.words, byte(v>>i))
		}
	}
	if n&(n-1) != 0 {
		word(n)
	}
	v := c.draw.Word() % n // which word is drawn here does not matter
	word(v)
	return v
}

// Golden compares a file of vectors, a JSON array with one element on each line, with the given ones. With
// DITHER_UPDATE_VECTORS=1 it writes the file.
func Golden[V any](t *testing.T, file string, vectors []V) {
	t.Helper()
	text := []byte("[\n")
	for i, v := range vectors {
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, line...)
		if i < len(vectors)-1 {
			text = append(text, ',')
		}
		text = append(text, '\n')
	}
	text = append(text, "]\n"...)
	if os.Getenv("DITHER_UPDATE_VECTORS") != "" {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, text) {
		t.Errorf("%s differs: clients in other languages rely on it. DITHER_UPDATE_VECTORS=1 writes it anew", file)
	}
}

package release

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dither/mechanism/stream"
)

// ErrFactor reports that a stream's matrix is missing or damaged. It says nothing about rows: the matrix is public.
var ErrFactor = errors.New("the matrix of the stream is missing or damaged")

// factorPath returns the path of the file that holds the matrix of a digest. Streams with the same matrix share it.
func (k *Kernel) factorPath(digest string) string {
	return filepath.Join(k.home, "streams", digest+".factor")
}

// keepFactor makes a stream's matrix durable. It runs before the stream is paid, so that the ledger never has a stream
// without its matrix.
func (k *Kernel) keepFactor(t ContinualTerms) error {
	if t.Factor == nil {
		return nil
	}
	if _, err := k.factorOf(t.Matrix); err == nil {
		return nil
	}
	path := k.factorPath(t.Matrix)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	u, err := writeBeside(path, func(to stateFile) error {
		_, err := to.Write(t.Factor.Encode())
		return err
	})
	return commit(u, err)
}

// factorOf reads the matrix of a digest. A matrix that differs from the declared one would need other noise, so the digest
// in the ledger decides.
func (k *Kernel) factorOf(digest string) (*stream.Factor, error) {
	if raw, err := hex.DecodeString(digest); err != nil || len(raw) != sha256.Size {
		return nil, fmt.Errorf("%w: its digest is malformed", ErrFactor)
	}
	name := filepath.Join("streams", digest+".factor")
	text, err := os.ReadFile(k.factorPath(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: the home has no file %s", ErrFactor, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the file %s cannot be read", ErrFactor, name)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("%w: the file %s is not the declared one", ErrFactor, name)
	}
	f, err := stream.DecodeFactor(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFactor, err)
	}
	return f, nil
}

// withFactor sets the terms' matrix from their digest, or their digest from the matrix.
func (k *Kernel) withFactor(t *ContinualTerms) (err error) {
	switch {
	case t.Factor != nil:
		t.Matrix = t.Factor.Digest()
	case t.Matrix != "":
		t.Factor, err = k.factorOf(t.Matrix)
	}
	return err
}

// Noisy returns the mechanism of a recorded stream. It returns ErrFactor if the stream's matrix is missing or damaged.
func (k *Kernel) Noisy(r *ContinualRecord) (stream.Continual, error) {
	t := r.Terms
	if err := k.withFactor(&t); err != nil {
		return stream.Continual{}, err
	}
	rho, _ := r.Price.ZCDP()
	return t.noisy(rho), nil
}

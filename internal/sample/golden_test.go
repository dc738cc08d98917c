package sample_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/sample"
)

// recording is SHA-256 in counter mode: bytes anyone can make again.
func recording(n int) []byte {
	var out []byte
	for i := uint64(0); len(out) < n; i++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("dither"), i))
		out = append(out, sum[:]...)
	}
	return out[:n]
}

// TestGolden pins which integers which bytes make: a change is a change to every recorded replay.
func TestGolden(t *testing.T) {
	for name, golden := range map[string]struct {
		sampler  sampler
		want     string
		consumed int64
	}{
		"Laplace 1":   {sample.NewLaplace(ratio(1, 1)), "2 -1 -1 0 0 -2 0 0 ", 108},
		"Laplace 7/3": {sample.NewLaplace(ratio(7, 3)), "6 -3 -4 -2 0 1 -4 0 ", 103},
		"Laplace 0.3": {sample.NewLaplace(ratio(3, 10)), "0 0 0 0 0 0 0 0 ", 177},
		"Laplace 2^45/3": {
			sample.NewLaplace(shifted(1, 45, big.NewInt(3))),
			"31732935718326 -29728956663639 -20607748209481 -6682178285450 -4389286565750 -1446048862932 1737562738943 18388393519256 ", 120,
		},
		"Laplace 2^100/3": {
			sample.NewLaplace(shifted(1, 100, big.NewInt(3))),
			"1143364845883035197480748130401 -141180349836568056166750733050 110018332105848816348715868232 -202993348387331242757049024301 -463484094994757555042084774718 -249819551247947625911663880024 -37949132598330256037801227524 -408992997981440838917166900524 ", 248,
		},
		"Laplace 2^150/3": {
			sample.NewLaplace(shifted(1, 150, big.NewInt(3))),
			"1306113297936121797128943511912465941683882763 -911567579114530075045068671265906262849197628 195114499142370426822067779015781289800384440 82255531574508089910674267256057180226389336 43550605801273307207930567112920860821241815 880578361249328565206868467362753667983568272 -55841914471482585726902085370960033889951663 -95377541507071251960020374423266250602727745 ", 224,
		},
		"Gaussian 1":      {sample.NewGaussian(ratio(1, 1)), "-2 1 -2 0 0 1 -1 1 ", 536},
		"Gaussian 1/1000": {sample.NewGaussian(ratio(1, 1000)), "0 0 0 0 0 0 0 0 ", 268},
		"Gaussian 7/3":    {sample.NewGaussian(ratio(7, 3)), "-2 1 3 0 1 0 -1 0 ", 213},
		"Gaussian 2^45/3": {
			sample.NewGaussian(shifted(1, 45, big.NewInt(3))),
			"-5124993 1154404 -697683 3159726 -2136798 -3196538 1159444 2404788 ", 240,
		},
		"Gaussian 2^100/3": {
			sample.NewGaussian(shifted(1, 100, big.NewInt(3))),
			"-938168391802005 401763303746127 294895681422525 -840371378437638 -420767075134959 787659539927315 -398166640191585 -840213708316164 ", 391,
		},
	} {
		source, z, got := entropy.Recorded(recording(4096)), new(big.Int), ""
		for range 8 {
			got += golden.sampler.Draw(source, z).String() + " "
		}
		if got != golden.want || source.Consumed() != golden.consumed {
			t.Errorf("%s: got %q from %d bytes; want %q from %d",
				name, got, source.Consumed(), golden.want, golden.consumed)
		}
	}
}

// TestDoorsAgree has the simple doors draw what prepared samplers draw.
func TestDoorsAgree(t *testing.T) {
	for _, p := range paths {
		a, b := entropy.Recorded(recording(4096)), entropy.Recorded(recording(4096))
		l, g, z := sample.NewLaplace(p.scale), sample.NewGaussian(p.scale), new(big.Int)
		for range 10 {
			if x := sample.DiscreteLaplace(a, p.scale); x.Cmp(l.Draw(b, z)) != 0 {
				t.Errorf("Laplace of %s: %s and %s", p.name, x, z)
			}
			if x := sample.DiscreteGaussian(a, p.scale); x.Cmp(g.Draw(b, z)) != 0 {
				t.Errorf("Gaussian of %s: %s and %s", p.name, x, z)
			}
		}
	}
}

// TestDrawsAllocateNothing is about the words and the pairs of words.
func TestDrawsAllocateNothing(t *testing.T) {
	source, z := entropy.System(), new(big.Int).SetBits(make([]big.Word, 0, 8))
	for range 100 { // the source's own blocks
		source.Uint64()
	}
	for _, p := range paths {
		l, g := sample.NewLaplace(p.scale), sample.NewGaussian(p.scale)
		if n := testing.AllocsPerRun(1000, func() { l.Draw(source, z) }); l.Path() != "big" && n != 0 {
			t.Errorf("Laplace of %s: %g allocations", p.name, n)
		}
		if n := testing.AllocsPerRun(1000, func() { g.Draw(source, z) }); g.Path() != "big" && n != 0 {
			t.Errorf("Gaussian of %s: %g allocations", p.name, n)
		}
	}
}

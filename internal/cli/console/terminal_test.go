package console

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSpin(t *testing.T) {
	for wait, want := range map[time.Duration][]string{
		900 * time.Millisecond:  nil, // nothing to say
		2050 * time.Millisecond: {"⠋ answering … 1 s", "⠙ answering … 1 s", "… 2 s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			stop := Spin(&out, "answering")
			time.Sleep(wait)
			stop()
			got := out.String()
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("after %v: %q", wait, got)
				}
			}
			if want == nil && got != "" || want != nil && !strings.HasSuffix(got, "\r\033[K") {
				t.Errorf("after %v: %q", wait, got)
			}
		})
	}
}

// Files and buffers are no terminals, and NO_COLOR is heard.
func TestObeys(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Obeys(f) || Colourful(f) || Obeys(&strings.Builder{}) {
		t.Error("a file is taken for a terminal")
	}
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		defer null.Close()
		if Obeys(null) {
			t.Error("the null device is taken for a terminal")
		}
	}
	t.Setenv("COLUMNS", "100")
	if w := ChartWidth(f); w != 100 {
		t.Errorf("%d columns, want what COLUMNS says", w)
	}
	t.Setenv("COLUMNS", "rubbish")
	if w := ChartWidth(f); w != usualWidth {
		t.Errorf("%d columns, want %d", w, usualWidth)
	}
}

package cli

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// Processes that ask one question at once pay for it once, whoever of them is killed when it has paid: each that is killed without having recorded
// its release leaves a charge, and one of the others pays anew. Nobody has numbers that are not the one release's.
func TestProcessesPayOnce(t *testing.T) {
	h := newKillHome(t, "50")
	h.life.Store(int64(100 * time.Millisecond))
	lost, told := 0, 0
	for round := range 8 {
		price := fmt.Sprintf("0.%d", 11+round) // another key
		var wg sync.WaitGroup
		var mu sync.Mutex
		var heard []said
		for i := range 5 {
			f := fate{question: fmt.Sprintf("%s -- %d.%d", killQuestion, round, i), epsilon: price}
			if round > 0 && i < 4 { // one is left to answer
				f.kill = reserved
			}
			wg.Go(func() {
				s := h.start(t, f, "query", "--format", "json", "--epsilon", price, f.question)
				mu.Lock()
				defer mu.Unlock()
				heard = append(heard, s)
			})
		}
		wg.Wait()
		b := h.read(t)
		reservations, releases, killed := 0, 0, 0
		for id, r := range b.reservations {
			if r.epsilon == price {
				reservations++
				if _, ok := b.releases[id]; ok {
					releases++
				}
			}
		}
		answers := map[string]int{}
		for i := range heard {
			if heard[i].killed {
				killed++
			}
			if a := heard[i].hear(t); a != nil && a.Error == nil {
				h.recorded(t, b, a)
				answers[a.Release]++
				told++
			}
		}
		if releases != 1 || len(answers) != 1 || reservations-releases > killed {
			t.Errorf("round %d: %d reservations, %d releases, %d killed, answers %v", round, reservations, releases, killed, answers)
		}
		lost += reservations - releases
	}
	var account struct {
		Lost struct{ Failed, Open, Torn int }
	}
	unmarshal(t, h.must(t, "budget", "--format", "json"), &account)
	if b := h.read(t); account.Lost.Open != lost || account.Lost.Failed != 0 || account.Lost.Torn < b.torn {
		t.Errorf("the budget tells of %+v; %d were lost, and %d entries torn", account.Lost, lost, b.torn)
	}
	if text := string(h.must(t, "budget")); !strings.Contains(text, fmt.Sprintf("of the spent amount: %d without a recorded end", lost)) {
		t.Error(text)
	}
	t.Logf("%d answers, %d charges that were lost to kills", told, lost)
	if lost == 0 {
		t.Error("nobody was killed between the charge and the answer: this shows little")
	}
}

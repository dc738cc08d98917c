package ledger

import (
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"dither/privacy"
)

// notCarried are the fields that a snapshot leaves out, each with where a reader has it from that begins at a
// checkpoint. Nothing that decides what is admitted may be listed here.
var notCarried = map[string]string{
	"history.base":             "how many entries the snapshot covers",
	"history.refs":             "the index",
	"history.past":             "the index",
	"history.newest":           "the index",
	"history.answers":          "the index",
	"history.kinds":            "a cache: what is alike is shared",
	"history.every":            "the reader",
	"history.passed":           "the checkpoint",
	"history.pending":          "places behind the snapshot's",
	"history.covered":          "places behind the snapshot's",
	"history.begun":            "the checkpoint",
	"history.begunAt":          "the checkpoint",
	"history.unindexed":        "the reader",
	"history.newestCheckpoint": "the reader",
	"history.spill":            "the reader",
	"history.witness":          "the reader",
	"history.source":           "the reader",
	"waiting.key":              "its entry, by recall",
	"waiting.about":            "its entry, by recall",
	"waiting.rho":              "its entry, by recall",
	"divided.known":            "a cache of what follows from the charges",
}

// writtenWhole are structs whose text is that of their entries: JSON of all fields.
var writtenWhole = []any{Terms{}, Seal{}, Grant{}, Head{}, Source{}, Parting{}}

// TestSnapshotHasAll: whoever begins at a snapshot has every field of the history that it was taken of, but for those
// that notCarried names; and the history of this test has something in each, so that no field goes unnoticed: not one
// that is new either.
func TestSnapshotHasAll(t *testing.T) {
	h := eventful(t)
	at := refAt(h.last.Index)
	text := h.snapshot(at)
	again, _, err := historyOf(text, usual)
	must(t, err)

	told := map[string]bool{} // the fields that something was in
	before, after, none := dump{told}, dump{map[string]bool{}}, dump{map[string]bool{}}
	empty := newHistory(usual)
	fields := reflect.TypeFor[history]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		if notCarried["history."+name] != "" {
			continue
		}
		field := func(d dump, h *history) string { return d.text(reflect.ValueOf(h).Elem().Field(i)) }
		want := field(before, h)
		if have := field(after, again); have != want {
			t.Errorf("history.%s is\n%s\nwant\n%s", name, have, want)
		}
		if want == field(none, empty) {
			t.Errorf("nothing is in history.%s: let an entry of this test leave something there", name)
		}
	}
	for _, of := range []any{waiting{}, losing{}, account{}, divided{}, division{}, tally{}, span{}} {
		kind := reflect.TypeOf(of)
		for i := range kind.NumField() {
			name := kind.Name() + "." + kind.Field(i).Name
			if told[name] == (notCarried[name] != "") {
				t.Errorf("%s: something in it is %t", name, told[name])
			}
		}
		delete(told, kind.Name())
	}
	for _, of := range append(writtenWhole, history{}) {
		delete(told, reflect.TypeOf(of).Name())
	}
	for name := range told {
		if !strings.Contains(name, ".") {
			t.Errorf("the struct %s is part of the history: list it here", name)
		}
	}
	for name := range notCarried {
		kind := map[string]reflect.Type{
			"history": fields, "waiting": reflect.TypeFor[waiting](), "divided": reflect.TypeFor[divided](),
		}[strings.Split(name, ".")[0]]
		if _, there := kind.FieldByName(strings.Split(name, ".")[1]); !there {
			t.Errorf("there is no %s", name)
		}
	}
	if second := again.snapshot(at); string(second) != string(text) {
		t.Errorf("the snapshot of what it gave is\n%s\nwant\n%s", second, text)
	}
}

// refAt is where an entry would be.
func refAt(index uint64) ref {
	r := ref0(index)
	r.offset, r.length = int64(100*index), 99
	return r
}

// eventful is a history that has something of everything.
func eventful(t *testing.T) *history {
	h := newHistory(usual)
	now := testTime // in January
	next := func(b Body) uint64 {
		t.Helper()
		e := Entry{Index: h.count(), Kind: b.kind(), Time: now, Body: b}
		if tip, begun := h.tip(); begun {
			e.Prev = tip.Hash
		}
		must(t, h.check(e))
		h.apply(e, refAt(e.Index))
		return e.Index
	}
	next(Genesis{testID})
	ruled := dividedTerms("1", "1", 2)
	ruled.Budget, ruled.MaxPrice = zcdp("1000", "1"), zcdp("10", "1/6")
	ruled.Grant = &Grant{"month", zcdp("500", "1")}
	ruled.Analysts = map[string]privacy.Loss{"alice": ruled.Budget, "bob": ruled.Budget}
	next(Adoption{ruled, 1})
	next(Seal{"visits", 1, digest})
	next(Opening{pure("1/7"), []Origin{{strings.Repeat("a", 32), "3:" + digest}}})
	now = time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)
	next(Resume{})
	now = testTime.AddDate(0, 0, 5)
	next(Correction{Ahead: h.clock})
	now = time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)
	asked := func(analyst string, loss privacy.Loss, parts ...string) uint64 {
		r := reservation(key(1), "1")
		r.Loss, r.Analyst = loss, analyst
		if len(parts) > 0 {
			r.Confined = &Confined{"visits", parts}
		}
		return next(r)
	}
	next(Failure{Reservation: asked("alice", pure("1/3"))})
	next(Failure{Reservation: asked("alice", zcdp("1/30", "1/7")), GivenUp: true, Counted: true})
	next(Failure{Reservation: asked("alice", pure("1/9")), GivenUp: true})
	next(Release{asked("bob", pure("0.1")), values(1)})
	next(Step{asked("bob", pure("0.2"), "A", "B"), "next", values(2)})
	asked("alice", zcdp("1/5", "0"))
	next(Torn{Bytes: 7, SHA256: digest, Loss: ruled.MaxPrice})
	return h
}

// dump writes values out, and notes the fields of structs in which something is, and the structs.
type dump struct{ told map[string]bool }

func (d dump) text(v reflect.Value) string {
	v = readable(v)
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format(time.RFC3339Nano)
	case *big.Rat:
		if x == nil {
			return "0"
		}
		return x.RatString()
	case privacy.Loss:
		out := fmt.Sprint(x.Accountant())
		for _, r := range amounts(x) {
			out += " " + r.RatString()
		}
		return out
	case privacy.Epsilon:
		return x.Rat().RatString()
	case privacy.Rho:
		return x.Rat().RatString()
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return d.text(v.Elem())
	case reflect.Map:
		texts := map[string]string{}
		for _, k := range v.MapKeys() {
			texts[d.text(k)] = d.text(v.MapIndex(k))
		}
		var out strings.Builder
		for _, k := range slices.Sorted(maps.Keys(texts)) {
			out.WriteString(k + ": " + texts[k] + "\n")
		}
		return "{" + out.String() + "}"
	case reflect.Slice, reflect.Array:
		var out strings.Builder
		for i := range v.Len() {
			out.WriteString(d.text(v.Index(i)) + ", ")
		}
		return "[" + out.String() + "]"
	case reflect.Struct:
		d.told[v.Type().Name()] = true
		var out strings.Builder
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name := v.Type().Name() + "." + f.Name
			if notCarried[name] != "" {
				continue
			}
			text := d.text(v.Field(i))
			if text != (dump{map[string]bool{}}).text(reflect.Zero(f.Type)) {
				d.told[name] = true
			}
			out.WriteString(f.Name + " " + text + "; ")
		}
		return "(" + out.String() + ")"
	}
	return fmt.Sprintf("%#v", v.Interface())
}

// readable is a value whose unexported fields can be read.
func readable(v reflect.Value) reflect.Value {
	if !v.CanAddr() {
		there := reflect.New(v.Type()).Elem()
		there.Set(v)
		return there
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

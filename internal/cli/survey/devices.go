package survey

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local"
)

// repeated returns the reports of devices with a memory. The file of --devices has the memory of one device on each line,
// and line i of the values is about device i. A missing file is made. It is stored before any report leaves: a device
// that forgets a permanent response draws another one, which reveals more. For the same reason, commands with the same file
// run one after another, and an empty file is an error: it may be one that lost its memories.
func (o *options) repeated(s *console.Console, oracle *local.Oracle, values []uint64) (reports [][]byte, err error) {
	states, lifetime, err := oracle.States()
	if err != nil {
		return nil, console.Usage("--devices is for rappor, loloha and dbit: %s has no memory", oracle.Params().Mechanism)
	}
	devices := 0
	err = console.Exclusive(s.Context(), o.devices, func(content []byte) error {
		all, err := o.opened(oracle, content, len(values))
		if err != nil {
			return err
		}
		devices = len(all)
		var memories bytes.Buffer
		for i, d := range all {
			r, err := d.Report(values[i])
			if err != nil {
				return err
			}
			reports = append(reports, r)
			text, err := json.Marshal(d)
			if err != nil {
				return err
			}
			_, _ = memories.Write(append(text, '\n')) // a buffer never fails
		}
		return console.ReplaceDurably(o.devices, memories.Bytes())
	})
	if path := new(os.PathError); errors.As(err, &path) {
		err = console.Usage("--devices: %v", err)
	}
	if err != nil {
		return nil, err
	}
	s.Note("%s has the memories of %s, and is as secret as the values. All reports of a device have ε = %s for each\n"+
		"state of its value: at most %s for %s.\n", o.devices, render.Plural(devices, "device"), oracle.Params().Epsilon,
		render.Given(lifetime.Rat()), render.Plural(int(states), "state"))
	return reports, nil
}

// opened returns n devices: those of a file's content, or new ones if it is nil.
func (o *options) opened(oracle *local.Oracle, content []byte, n int) (devices []*local.Device, err error) {
	if content == nil {
		for range n {
			d, err := oracle.NewDevice()
			if err != nil {
				return nil, err
			}
			devices = append(devices, d)
		}
		return devices, nil
	}
	in := json.NewDecoder(bytes.NewReader(content))
	for {
		var text json.RawMessage
		err := in.Decode(&text)
		if errors.Is(err, io.EOF) {
			break
		}
		number := len(devices) + 1
		if err != nil {
			return nil, console.Usage("%s: the memory of device %d is not in JSON", o.devices, number)
		}
		d, err := oracle.OpenDevice(text)
		if err != nil {
			return nil, console.Usage("%s: device %d: %v", o.devices, number, err)
		}
		devices = append(devices, d)
	}
	if len(devices) == 0 {
		return nil, console.Usage("%s is empty: if it had memories, restore them, "+
			"because new ones reveal more; if not, remove it", o.devices)
	}
	if len(devices) != n {
		return nil, console.Usage("%s has %s, but there are %s: each line is about one device", o.devices,
			render.Plural(len(devices), "device"), fmt.Sprint(n, " values"))
	}
	return devices, nil
}

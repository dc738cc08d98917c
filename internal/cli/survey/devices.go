package survey

import (
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
// that forgets a permanent response draws another one, which reveals more.
func (o *options) repeated(s *console.Console, oracle *local.Oracle, values []uint64) (reports [][]byte, err error) {
	states, lifetime, err := oracle.States()
	if err != nil {
		return nil, console.Usage("--devices is for rappor, loloha and dbit: %s has no memory", oracle.Params().Mechanism)
	}
	devices, err := o.opened(oracle, len(values))
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		r, err := devices[i].Report(v)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	err = console.ReplaceFile(o.devices, func(w io.Writer) error {
		for _, d := range devices {
			text, err := json.Marshal(d)
			if err != nil {
				return err
			}
			if _, err := w.Write(append(text, '\n')); err != nil {
				return err
			}
		}
		if f, ok := w.(*os.File); ok {
			return f.Sync()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.Note("%s has the memories of %s, and is as secret as the values. All reports of a device have ε = %s for each\n"+
		"state of its value: at most %s for %s.\n", o.devices, render.Plural(len(devices), "device"), oracle.Params().Epsilon,
		render.Given(lifetime.Rat()), render.Plural(int(states), "state"))
	return reports, nil
}

// opened returns n devices: those of the file, or new ones if there is no file.
func (o *options) opened(oracle *local.Oracle, n int) (devices []*local.Device, err error) {
	file, err := os.Open(o.devices)
	if errors.Is(err, os.ErrNotExist) {
		for range n {
			d, err := oracle.NewDevice()
			if err != nil {
				return nil, err
			}
			devices = append(devices, d)
		}
		return devices, nil
	}
	if err != nil {
		return nil, console.Usage("--devices: %v", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	in := json.NewDecoder(file)
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
	if len(devices) != n {
		return nil, console.Usage("%s has %s, but there are %s: each line is about one device", o.devices,
			render.Plural(len(devices), "device"), fmt.Sprint(n, " values"))
	}
	return devices, nil
}

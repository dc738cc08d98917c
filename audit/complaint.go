package audit

import (
	"bytes"
	"os"
	"strings"
)

// keptComplaint is the number of bytes kept from the beginning of a process's stderr, and from its end.
const keptComplaint = 4 << 10

// head is a writer that keeps the first and the last keptComplaint bytes of what is written to it.
type head struct{ text, tail []byte }

func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), keptComplaint-len(h.text))]...)
	h.tail = append(h.tail, p...)
	h.tail = h.tail[max(0, len(h.tail)-keptComplaint):]
	return len(p), nil
}

// line returns the first line that is not empty. For a Python traceback it returns the last line.
func (h *head) line() string {
	text := string(bytes.ToValidUTF8(bytes.TrimSpace(h.text), []byte("�")))
	if strings.HasPrefix(text, "Traceback") {
		text = string(bytes.ToValidUTF8(bytes.TrimSpace(h.tail), []byte("�")))
		return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	}
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// crash returns the error for a process that failed after done outputs. complaint is a line of its stderr, or "".
func (c call) crash(done int, ended error, complaint string) error {
	detail := ended.Error() + " after " + outputs(c.before+done)
	if complaint != "" {
		detail += ": " + complaint
	}
	return c.fails(ErrCrash, done, detail, c.crashHint(done, complaint))
}

func (c call) crashHint(done int, complaint string) string {
	if c.before+done == 0 {
		for _, sign := range []string{
			"No such file", "can't open", "cannot open", "Can't open", "Cannot open",
			"not found", "Permission denied",
		} {
			if strings.Contains(complaint, sign) {
				hint := "check the file names in the command: relative names start at dither's working directory"
				if dir, err := os.Getwd(); err == nil {
					hint += ", " + dir
				}
				return hint
			}
		}
	}
	if info, err := os.Stat(c.file); err == nil && info.Size() == 0 {
		return "its file is empty: a mechanism must answer for an empty file too, or the failure reveals whether it " +
			"is empty"
	}
	return "a mechanism must not fail depending on the data: a crash is an output too"
}

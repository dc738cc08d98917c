package town

import (
	"bufio"
	"io"
	"strconv"
	"time"
)

// The column names of the two tables, in the order of their files and of the policy.
const (
	peopleHeader = "person_id,age,party,region,income,voted,smoker,lung_cancer,height_cm,group_quarters,race\n"
	visitsHeader = "person_id,day,department,cost\n"
)

// WritePeople writes the table people as CSV and returns its number of rows. NULL is an empty field. For a person
// with an odd number, an unknown height is written as "n/a", which is not a number.
func (t Town) WritePeople(w io.Writer) (rows int64, err error) {
	out := bufio.NewWriterSize(w, 1<<16)
	_, err = out.WriteString(peopleHeader)
	var line []byte
	for p := range t.People() {
		if err != nil {
			return rows, err
		}
		line = p.appendCSV(line[:0])
		_, err = out.Write(line)
		rows++
	}
	if err != nil {
		return rows, err
	}
	return rows, out.Flush()
}

// WriteVisits writes the table visits as CSV and returns its number of rows. NULL is an empty field.
func (t Town) WriteVisits(w io.Writer) (rows int64, err error) {
	out := bufio.NewWriterSize(w, 1<<16)
	_, err = out.WriteString(visitsHeader)
	var line []byte
	for p := range t.People() {
		for v := range t.Visits(p) {
			if err != nil {
				return rows, err
			}
			line = v.appendCSV(line[:0])
			_, err = out.Write(line)
			rows++
		}
	}
	if err != nil {
		return rows, err
	}
	return rows, out.Flush()
}

func (p Person) appendCSV(b []byte) []byte {
	b = strconv.AppendInt(b, p.ID, 10)
	b = strconv.AppendInt(append(b, ','), int64(p.Age), 10)
	b = append(append(b, ','), p.Party...)
	b = append(append(b, ','), p.Region...)
	b = append(b, ',')
	if p.Income != Unknown {
		b = strconv.AppendInt(b, p.Income, 10)
	}
	b = strconv.AppendBool(append(b, ','), p.Voted)
	b = append(b, ',')
	if p.Smoker != NotSaid {
		b = strconv.AppendBool(b, p.Smoker == Yes)
	}
	b = strconv.AppendBool(append(b, ','), p.LungCancer)
	b = append(b, ',')
	switch {
	case p.Height != Unknown:
		b = appendDecimal(b, int64(p.Height), 1)
	case p.ID%2 == 1:
		b = append(b, "n/a"...)
	}
	b = strconv.AppendBool(append(b, ','), p.GroupQuarters)
	b = append(append(b, ','), p.Race...)
	return append(b, '\n')
}

// days holds the dates of the year, as text.
var days = func() (out [yearDays]string) {
	for i := range out {
		out[i] = time.Unix((firstDay+int64(i))*86400, 0).UTC().Format(time.DateOnly)
	}
	return out
}()

func (v Visit) appendCSV(b []byte) []byte {
	b = strconv.AppendInt(b, v.Person, 10)
	b = append(append(b, ','), days[v.Day-firstDay]...)
	b = append(append(b, ','), v.Department...)
	b = append(b, ',')
	if v.Cost != Unknown {
		b = appendDecimal(b, v.Cost, 2)
	}
	return append(b, '\n')
}

// appendDecimal appends n / 10^places as a decimal, for n ≥ 0.
func appendDecimal(b []byte, n int64, places int) []byte {
	unit := int64(1)
	for range places {
		unit *= 10
	}
	b = append(strconv.AppendInt(b, n/unit, 10), '.')
	for unit /= 10; unit > 0; unit /= 10 {
		b = append(b, byte('0'+n/unit%10))
	}
	return b
}

package ispconfig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"hostpanel/domain/field"
)

// A row is what is picked from a row of the engine: columns that we know, as
// text, null as nothing. Everything else, hashes and keys among it, is dropped
// while it is read.
type row map[string]string

func (r row) number(column string) int64 {
	n, _ := strconv.ParseInt(r[column], 10, 64) // no number is none of ours
	return n
}

func (r row) on(column string) bool { return r[column] == "y" || r[column] == "Y" }

// rows makes a call that reads and picks the columns of what it finds: a list,
// one object, or one of the ways in which the engine says "none".
func (c *connection) rows(ctx context.Context, function string, arguments members, columns []string) ([]row, error) {
	var raw json.RawMessage
	if err := c.read(ctx, function, arguments, &raw); err != nil {
		return nil, err
	}
	found, err := pick(raw, columns)
	if err != nil {
		return nil, unclear(function, err)
	}
	return found, nil
}

func pick(raw json.RawMessage, columns []string) ([]row, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0, bytes.Equal(raw, []byte("null")), bytes.Equal(raw, []byte("false")):
		return nil, nil
	case raw[0] == '{':
		raw = slices.Concat([]byte{'['}, raw, []byte{']'})
	case raw[0] != '[':
		return nil, errors.New("the answer is not a list")
	}
	var all []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, errors.New("the answer is not a list of rows")
	}
	var picked []row
	for _, one := range all {
		r := row{}
		for _, column := range columns {
			if value, present := one[column]; present {
				r[column] = plain(value)
			}
		}
		picked = append(picked, r)
	}
	return picked, nil
}

// plain is a value as text.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	if bytes.Equal(value, []byte("null")) {
		return ""
	}
	return string(value)
}

// An id comes as text or as a number.
type id int64

func (i *id) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseInt(string(bytes.Trim(raw, `"`)), 10, 64)
	if err != nil || n < 1 {
		return errors.New("the engine's id is not a number above zero")
	}
	*i = id(n)
	return nil
}

// put sets one of the panel's fields.
func put(all field.Values, name string, value any) {
	all[name], _ = json.Marshal(value) // text, numbers and flags have no errors
}

func values(pairs ...any) field.Values {
	all := field.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		put(all, name, pairs[i+1])
	}
	return all
}

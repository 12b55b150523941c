package witness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/wholefile"
)

// A state is all that a witness keeps, in one file: a witness that lost a part of it
// would cosign what it must refuse.
type state struct {
	Name     string            `json:"name"`
	Key      string            `json:"key"`
	Cosigned map[string]string `json:"cosigned"` // the last checkpoint of each log, by its origin
}

// load reads the file, or makes it.
func load(path, name string) (s state, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return first(path, name)
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("the file of the witness %s: %w", path, err)
	}
	if name != "" && name != s.Name {
		return s, fmt.Errorf("%s is the file of the witness %s, not of %s", path, s.Name, name)
	}
	if s.Cosigned == nil {
		s.Cosigned = map[string]string{}
	}
	return s, nil
}

func first(path, name string) (state, error) {
	s := state{name, tlog.NewWitnessKey(), map[string]string{}}
	if name == "" {
		return s, fmt.Errorf("%s is not there: a new witness needs a name", path)
	}
	return s, s.save(path)
}

// save replaces the file. It is on the disk, whole or not at all, when save returns.
func (s state) save(path string) error {
	text, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	return wholefile.Write(path, append(text, '\n'))
}

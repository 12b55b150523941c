package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain/hosting"
)

// Servers are what stands behind an engine, to see whether it does what the
// engine says. What is empty is not looked at.
type Servers struct {
	Zone        func(origin string) (string, error) // reads the zone file that is served
	NameServers []string                            // that every zone has
	Database    string                              // "127.0.0.1:3306" of MariaDB or MySQL
}

// Observable returns the kinds whose servers can be queried.
func (s Servers) Observable() (kinds []string) {
	if s.Zone != nil {
		kinds = append(kinds, "dns_zone", "dns_record")
	}
	if s.Database != "" {
		kinds = append(kinds, "database")
	}
	return kinds
}

// Serves tells what a server does not do of an object that is applied.
func (s Servers) Serves(ctx context.Context, o hosting.EngineObject) error {
	switch o.Kind {
	case "dns_zone":
		return s.zone(o.Name)
	case "dns_record":
		return s.record(o.Name)
	case "database":
		var user string
		_ = json.Unmarshal(o.Values["engine_user"], &user)
		return LogIn(ctx, s.Database, user, o.Secrets["db_password"], o.Name)
	}
	return nil
}

// ZoneFiles reads zones from the files that an engine writes for BIND: those
// that BIND took last. One that it refused stands beside and ends in ".err".
func ZoneFiles(folder, prefix string) func(origin string) (string, error) {
	return func(origin string) (string, error) {
		path := filepath.Join(folder, prefix+strings.TrimSuffix(origin, "."))
		if _, err := os.Stat(path + ".err"); err == nil {
			return "", errors.New("BIND refused the zone as it is now")
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return "", errors.New("there is no zone file")
		}
		return string(text), nil
	}
}

func (s Servers) zone(origin string) error {
	text, err := s.Zone(origin)
	if err != nil {
		return err
	}
	lines := zoneLines(text, origin)
	for _, server := range s.NameServers {
		if !slices.Contains(lines, zoneLine{origin, "NS", server}) {
			return fmt.Errorf("the zone has no NS record of %s", server)
		}
	}
	return nil
}

func (s Servers) record(name string) error {
	key, _ := hosting.ParseRecordName(name)
	text, err := s.Zone(key.Origin)
	if err != nil {
		return err
	}
	if key.Type == "MX" || key.Type == "SRV" {
		key.Data = strconv.FormatInt(key.Priority, 10) + " " + key.Data
	}
	if !slices.Contains(zoneLines(text, key.Origin), zoneLine{key.Name, key.Type, key.Data}) {
		return fmt.Errorf("the zone has no such %s record", key.Type)
	}
	return nil
}

// A zoneLine is a record of a zone file that stands on one line, its name full
// and its text without quotes.
type zoneLine struct{ name, kind, data string }

// zoneLines reads the records with a name, a time to live, a type and data.
func zoneLines(text, origin string) (all []zoneLine) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 4 || strings.HasPrefix(line, ";") || strings.HasPrefix(line, "$") {
			continue
		}
		name, kind := words[0], words[2]
		switch {
		case name == "@":
			name = origin
		case !strings.HasSuffix(name, "."):
			name += "." + origin
		}
		data := strings.Join(words[3:], " ")
		if kind == "TXT" {
			_, rest, _ := strings.Cut(line, "TXT")
			data = unquoted(rest)
		}
		all = append(all, zoneLine{name, kind, data})
	}
	return all
}

// unquoted joins the quoted strings of a text and undoes its escapes (RFC 1035,
// 5.1).
func unquoted(text string) string {
	var out strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted:
		case c == '\\' && i+3 < len(text) && text[i+1] >= '0' && text[i+1] <= '9':
			n, _ := strconv.ParseUint(text[i+1:i+4], 10, 8)
			out.WriteByte(byte(n))
			i += 3
		case c == '\\' && i+1 < len(text):
			i++
			out.WriteByte(text[i])
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// Package at has the command that shows lists of the panel as they were at a moment
// (docs/audit.md, "Going back in time").
package at

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"hostpanel/cmd/hostpanel/console"
)

// Command is `hostpanel at`.
type Command struct {
	Moment string   `arg:"" help:"A time such as 2026-05-01T10:00Z."`
	Words  []string `arg:"" name:"command" passthrough:"" help:"-- and a command that shows a list: orders list."`
}

// Nested carries out another command line, as of a moment.
type Nested func(moment time.Time, args []string) error

// shows are the commands that show what business tables hold. All others write, show
// what is no event, or read the log themselves.
var shows = map[string]bool{
	"orders list": true, "orders show": true, "plans list": true, "incidents list": true, "zone": true,
	"invoices list": true, "subscriptions list": true,
}

// Help names the commands.
func (Command) Help() string {
	return "The commands are: " + strings.Join(slices.Sorted(maps.Keys(shows)), ", ") +
		`. The tables are filled from the log up to the moment, beside those in use, which stay as they are.`
}

// Allowed refuses a command that cannot look back.
func Allowed(command string) error {
	name, _, _ := strings.Cut(command, " <")
	if shows[name] {
		return nil
	}
	return console.Misused(
		"%s cannot be asked about another moment: only %s can", name,
		strings.Join(slices.Sorted(maps.Keys(shows)), ", "),
	)
}

// Run carries out the command with the settings of both lines.
func (cmd Command) Run(chosen *kong.Context, nested Nested) error {
	moment, err := console.ParseTime(cmd.Moment)
	if err != nil {
		return err
	}
	words := cmd.Words
	if words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return console.Misused(`there is no command behind "--", such as: orders list`)
	}
	for _, part := range chosen.Path {
		if part.Flag != nil {
			words = append(words, fmt.Sprintf("--%s=%v", part.Flag.Name, chosen.FlagValue(part.Flag)))
		}
	}
	return nested(moment, words)
}

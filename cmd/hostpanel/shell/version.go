package shell

import (
	"fmt"
	"runtime"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
)

// Version is `hostpanel version`.
type Version struct {
	JSON bool `name:"json" help:"For programs."`
}

// Run prints the version and what the program was built with.
func (cmd Version) Run(c console.Console) error {
	b := program.BuildOf()
	if cmd.JSON {
		return c.JSON(map[string]string{"version": b.Version, "revision": b.Revision, "go": runtime.Version(), "platform": platform()})
	}
	revision := ""
	if b.Revision != "" {
		revision = ", revision " + b.Revision
	}
	_, err := fmt.Fprintf(c.Out, "hostpanel %s (%s, %s%s)\n", b.Version, runtime.Version(), platform(), revision)
	return err
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

package program

import "runtime/debug"

// A Build is what the program was built from.
type Build struct {
	Version  string
	Revision string // of the repository; empty: not known
}

// BuildOf reads what the Go toolchain has noted in the program.
func BuildOf() Build {
	b := Build{Version: "dev"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
}

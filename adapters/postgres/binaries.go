//go:build unix

package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// oldest is the first version of PostgreSQL that the panel's SQL runs on.
const oldest = 15

// distributions are the folders that the usual packages install into.
var distributions = []string{
	"/usr/lib/postgresql/*/bin",            // Debian, Ubuntu
	"/usr/pgsql-*/bin",                     // PostgreSQL's own packages for Red Hat
	"/usr/lib64/pgsql/*/bin",               // openSUSE, Gentoo
	"/usr/libexec/postgresql*",             // Alpine
	"/usr/bin",                             // Fedora, Arch
	"/opt/homebrew/opt/postgresql@*/bin",   // Homebrew on Apple silicon
	"/usr/local/opt/postgresql@*/bin",      // Homebrew on Intel
	"/opt/local/lib/postgresql*/bin",       // MacPorts
	"/Applications/Postgres.app/*/*/*/bin", // Postgres.app
	"/usr/local/pgsql/bin",                 // built from source
}

// binaries are the programs of one installed PostgreSQL.
type binaries struct {
	folder  string
	version string // as the server tells it, "15.18 (Debian 15.18-0+deb12u1)"
	major   int
	minor   int
}

func (b binaries) path(program string) string { return filepath.Join(b.folder, program) }

// binaries finds the newest PostgreSQL that can run this cluster, or fetches
// one.
func (c *Cluster) binaries(ctx context.Context) (binaries, error) {
	major, err := c.home.major()
	if err != nil {
		return binaries{}, err
	}
	found := c.installed(ctx)
	for _, b := range found {
		if major == 0 || b.major == major {
			return b, nil
		}
	}
	b, err := c.fetch(ctx, major)
	if err != nil {
		return binaries{}, fmt.Errorf("%w: %s %w", ErrMissing, missing(major), err)
	}
	return b, nil
}

func missing(major int) string {
	if major == 0 {
		return fmt.Sprintf("version %d or newer is not installed. Install the package "+
			"postgresql (Debian, Ubuntu: apt install postgresql), postgresql-server (Fedora, Red Hat: dnf install postgresql-server) "+
			"or postgresql@17 (macOS: brew install postgresql@17), put its programs on PATH, or set DATABASE_URL. "+
			"HOSTPANEL_POSTGRES_MIRROR names another place to fetch it from. Fetching it did not work:", oldest)
	}
	return fmt.Sprintf("the cluster was made by version %[1]d, which is not installed. Install the package "+
		"postgresql-%[1]d (Debian, Ubuntu), postgresql%[1]d-server (Fedora, Red Hat) or postgresql@%[1]d (macOS, "+
		"brew), or put its programs on PATH. HOSTPANEL_POSTGRES_MIRROR names another place to fetch it from. "+
		"Fetching it did not work:", major)
}

// installed lists what the owner can run here, the newest first.
func (c *Cluster) installed(ctx context.Context) []binaries {
	var found []binaries
	for _, folder := range c.places() {
		b, err := inspect(ctx, folder)
		if err == nil && b.major >= oldest && c.owner.mustReach(b.folder) == nil {
			found = append(found, b)
		}
	}
	slices.SortStableFunc(found, func(a, b binaries) int {
		return slices.Compare([]int{b.major, b.minor}, []int{a.major, a.minor})
	})
	return found
}

func (c *Cluster) places() []string {
	places := filepath.SplitList(os.Getenv("PATH"))
	folders := c.options.folders
	if folders == nil {
		folders = distributions
	}
	if isOurs(c.home.binaries) {
		folders = append(slices.Clone(folders), filepath.Join(c.home.binaries, "*", "bin"))
	}
	for _, pattern := range folders {
		matches, _ := filepath.Glob(pattern) // the patterns are well formed
		places = append(places, matches...)
	}
	return places
}

var versionLine = regexp.MustCompile(`^postgres \(PostgreSQL\) ((\d+)\.?(\d*).*)`)

// inspect asks the server in folder for its version. A link is followed, as the
// other programs stand where the server really is.
func inspect(ctx context.Context, folder string) (binaries, error) {
	server, err := filepath.EvalSymlinks(filepath.Join(folder, "postgres"))
	if err != nil {
		return binaries{}, err
	}
	b := binaries{folder: filepath.Dir(server)}
	if _, err := exec.LookPath(b.path("initdb")); err != nil {
		return binaries{}, err
	}
	text, err := exec.CommandContext(ctx, server, "--version").Output()
	if err != nil {
		return binaries{}, err
	}
	m := versionLine.FindSubmatch(text)
	if m == nil {
		return binaries{}, fmt.Errorf("%s does not tell its version", server)
	}
	b.version = string(m[1])
	b.major, _ = strconv.Atoi(string(m[2]))
	b.minor, _ = strconv.Atoi(string(m[3])) // none in a beta
	return b, nil
}

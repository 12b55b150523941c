package config

import (
	"net/url"
	"runtime"

	"hostpanel/cmd/hostpanel/console"
)

// database checks where programs of Postgres are fetched from, and how many connections a
// process may have. A request that waits for a connection holds none, so few suffice.
func (c *Config) database(s Settings) (err error) {
	c.PostgresMirror = s.PostgresMirror
	u, err := url.Parse(s.PostgresMirror)
	if s.PostgresMirror != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil) {
		return console.Misused("HOSTPANEL_POSTGRES_MIRROR is not a URL such as https://maven.example.com/maven2")
	}
	const least, most = 8, 500
	c.Connections, err = number("HOSTPANEL_DATABASE_CONNECTIONS", "connections", s.Connections, UsualConnections(), least, most)
	return err
}

// UsualConnections are those of a process if nothing is set.
func UsualConnections() int { return min(16+8*runtime.NumCPU(), 64) }

//go:build unix

package postgres

import (
	"maps"
	"slices"
	"strconv"
)

// usual are the settings of a cluster that holds a panel's only truth, on a
// machine that has other things to do. Its messages are about the server alone:
// those about statements go to the program that sent them, as they quote data.
var usual = map[string]string{
	"shared_buffers":          "128MB",
	"max_connections":         "100",
	"jit":                     "off",
	"fsync":                   "on",
	"full_page_writes":        "on",
	"synchronous_commit":      "on",
	"timezone":                "UTC",
	"log_timezone":            "UTC",
	"logging_collector":       "off",
	"log_min_messages":        "log",
	"log_min_error_statement": "panic",
	"log_error_verbosity":     "terse",
	"log_checkpoints":         "off",
	"log_destination":         "stderr",
}

// volatile are the settings of a cluster whose data is not kept.
var volatile = map[string]string{
	"shared_buffers":     "64MB",
	"max_connections":    "400",
	"fsync":              "off",
	"full_page_writes":   "off",
	"synchronous_commit": "off",
	"autovacuum":         "off", // it would hold templates while they are cloned
	"wal_level":          "minimal",
	"max_wal_senders":    "0",
}

// settings are the arguments of the server: ours, then the caller's, and last
// where it listens.
func (c *Cluster) settings(a address) []string {
	all := maps.Clone(usual)
	if c.options.Volatile {
		maps.Copy(all, volatile)
	}
	maps.Copy(all, c.options.Settings)
	maps.Copy(all, a.settings())
	var args []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		args = append(args, "-c", name+"="+all[name])
	}
	return args
}

func (a address) settings() map[string]string {
	at := map[string]string{
		"port":                    strconv.Itoa(a.port),
		"listen_addresses":        "",
		"unix_socket_directories": a.host,
	}
	if a.tcp() {
		at["listen_addresses"], at["unix_socket_directories"] = a.host, ""
	}
	return at
}

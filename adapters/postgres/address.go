//go:build unix

package postgres

import (
	"context"
	"net"
	"path/filepath"
	"strconv"
)

// longest is the longest path of a socket, in bytes; systems allow for 103 or
// 107.
const longest = 100

// The port only names the socket's file: each cluster has its socket in a folder
// of its own.
const (
	socketPort = 5432
	socketName = ".s.PGSQL.5432"
)

// An address is where a server listens: a folder with its socket, or loopback.
type address struct {
	host string
	port int // 0 on loopback: any free one
}

func (a address) tcp() bool      { return !filepath.IsAbs(a.host) }
func (a address) String() string { return net.JoinHostPort(a.host, strconv.Itoa(a.port)) }

func (h home) address() address {
	if len(filepath.Join(h.data(), socketName)) > longest {
		return address{host: "127.0.0.1"}
	}
	return address{h.data(), socketPort}
}

// settled is the address with a port that is free at this moment.
func (a address) settled(ctx context.Context) (address, error) {
	if a.port != 0 {
		return a, nil
	}
	var free net.ListenConfig
	l, err := free.Listen(ctx, "tcp", a.String())
	if err != nil {
		return a, err
	}
	a.port = l.Addr().(*net.TCPAddr).Port
	return a, l.Close()
}

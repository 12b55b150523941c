package main

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"hostpanel/eventstore"
)

// Ready tells what keeps the panel from serving, by the name of the check.
func (p *program) Ready(ctx context.Context) map[string]string {
	if _, _, err := p.store.Head(ctx); err != nil {
		if errors.Is(orEmpty(err), errEmpty) {
			return map[string]string{"migrations": "missing"}
		}
		return map[string]string{"database": "does not answer"}
	}
	return nil
}

// isAway tells that an error says nothing about the request, only about the
// database: it is away, starting, stopping, full or read-only.
func isAway(err error) bool {
	var refused *pgconn.PgError
	var dial *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.Is(err, eventstore.ErrUnavailable), errors.As(err, &dial):
		return true
	case errors.As(err, &refused):
		for _, class := range []string{"08", "53", "57P", "58", "25006"} {
			if strings.HasPrefix(refused.Code, class) {
				return true
			}
		}
		return false
	}
	return errors.As(err, &network) || errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err)
}

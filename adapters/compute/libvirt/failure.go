package libvirt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	rpc "github.com/digitalocean/go-libvirt"

	"hostpanel/domain"
)

// classes map libvirt's errors to failures. Those that are missing say nothing about what
// was done, so they are unknown.
var classes = map[rpc.ErrorNumber]struct {
	class domain.Class
	code  string
}{
	rpc.ErrNoDomain:              {domain.Permanent, "absent"},
	rpc.ErrDomExist:              {domain.Permanent, "name_taken"},
	rpc.ErrNoStoragePool:         {domain.Permanent, "no_pool"},
	rpc.ErrNoStorageVol:          {domain.Permanent, "no_volume"},
	rpc.ErrNoNetwork:             {domain.Permanent, "no_network"},
	rpc.ErrNoNwfilter:            {domain.Permanent, "no_filter"},
	rpc.ErrNoDomainSnapshot:      {domain.Permanent, "no_snapshot"},
	rpc.ErrXMLError:              {domain.Permanent, "refused"},
	rpc.ErrXMLDetail:             {domain.Permanent, "refused"},
	rpc.ErrXMLInvalidSchema:      {domain.Permanent, "refused"},
	rpc.ErrInvalidArg:            {domain.Permanent, "refused"},
	rpc.ErrConfigUnsupported:     {domain.Permanent, "refused"},
	rpc.ErrNoSupport:             {domain.Permanent, "not_supported"},
	rpc.ErrArgumentUnsupported:   {domain.Permanent, "not_supported"},
	rpc.ErrOperationUnsupported:  {domain.Permanent, "not_supported"},
	rpc.ErrOperationInvalid:      {domain.Transient, "state"}, // the machine, or a volume, has just changed
	rpc.ErrOperationTimeout:      {domain.Transient, "busy"},
	rpc.ErrResourceBusy:          {domain.Transient, "busy"},
	rpc.ErrBlockCopyActive:       {domain.Transient, "busy"},
	rpc.ErrNoMemory:              {domain.Transient, "host_memory"},
	rpc.ErrOperationDenied:       {domain.Permanent, "denied"},
	rpc.ErrAccessDenied:          {domain.Permanent, "denied"},
	rpc.ErrAuthFailed:            {domain.Permanent, "denied"},
	rpc.ErrAuthCancelled:         {domain.Permanent, "denied"},
	rpc.ErrAuthUnavailable:       {domain.Permanent, "denied"},
	rpc.ErrAgentUnresponsive:     {domain.Transient, "no_agent"},
	rpc.ErrAgentUnsynced:         {domain.Transient, "no_agent"},
	rpc.ErrAgentCommandTimeout:   {domain.Transient, "no_agent"},
	rpc.ErrHookScriptFailed:      {domain.Permanent, "hook"},
	rpc.ErrMultipleDomains:       {domain.Permanent, "ambiguous"},
	rpc.ErrInvalidDomainSnapshot: {domain.Permanent, "no_snapshot"},
}

// is reports whether err is an error of libvirt with one of the numbers.
func is(err error, numbers ...rpc.ErrorNumber) bool {
	e, ok := errors.AsType[rpc.Error](err)
	return ok && slices.Contains(numbers, rpc.ErrorNumber(e.Code))
}

// classify makes an error of libvirt a failure.
func classify(what string, err error) error {
	if _, is := errors.AsType[*domain.Failure](err); is || err == nil {
		return err
	}
	e, answered := errors.AsType[rpc.Error](err)
	if !answered {
		return domain.Fail(domain.Unknown, "no_answer", fmt.Errorf("%s: %w", what, err))
	}
	known, listed := classes[rpc.ErrorNumber(e.Code)]
	switch {
	case strings.Contains(e.Message, "No space left") || strings.Contains(e.Message, "Not enough free space"):
		return domain.Fail(domain.Permanent, "node_full", fmt.Errorf("%s: %w", what, err))
	case !listed:
		return domain.Fail(domain.Unknown, "failed", fmt.Errorf("%s: %w (%d)", what, err, e.Code))
	}
	f := &domain.Failure{Class: known.class, Code: known.code, Err: fmt.Errorf("%s: %w", what, err)}
	if known.code == "denied" {
		f.Lacks = "login"
	}
	return f
}

// isLost reports whether a call failed by its connection, without an answer of libvirt.
func isLost(err error) bool {
	_, answered := errors.AsType[rpc.Error](err)
	_, failed := errors.AsType[*domain.Failure](err)
	return !answered && !failed
}

// unreachable is the failure of a call that was not made.
func unreachable(what string, err error) error {
	if !isLost(err) {
		return classify(what, err)
	}
	return domain.Fail(domain.Transient, "unreachable", fmt.Errorf("%s: %w", what, err))
}

func permanent(code, format string, args ...any) error {
	return domain.Fail(domain.Permanent, code, fmt.Errorf(format, args...))
}

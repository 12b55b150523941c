package sandbox

import (
	"errors"
	"regexp"

	"hostpanel/domain/hosting"
)

// tenant is the kind of clients, to whom all other objects belong.
const tenant = "tenant"

func init() { rules[tenant] = rule{check: client} }

var (
	login  = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	system = regexp.MustCompile(`^(web|client)[0-9]+$`) // the engine names its own users so
)

func client(o hosting.EngineObject) error {
	switch {
	case !login.MatchString(o.Name):
		return errors.New("the login name has characters that are not allowed, or too many")
	case system.MatchString(o.Name):
		return errors.New("the login name collides with a system user")
	case o.Ref == "":
		return errors.New("a client needs a customer number")
	case o.Owner != 0:
		return errors.New("a client has no owner")
	}
	return nil
}

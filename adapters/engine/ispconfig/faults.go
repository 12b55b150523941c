package ispconfig

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"hostpanel/domain"
)

// A class is what an answer of the engine means. The engine itself only says
// "remote_fault" and a text.
type class string

const (
	expired        class = "session.expired"
	locked         class = "session.locked"
	badCredentials class = "auth.credentials"
	badAddress     class = "auth.address"
	noPermission   class = "auth.permission"
	maintenance    class = "engine.maintenance"
	wrongCall      class = "caller.bug"
	conflict       class = "conflict"
	absent         class = "absent"
	noClient       class = "parent.client"
	noMailDomain   class = "parent.maildomain"
	noSite         class = "parent.site"
	weakPassword   class = "password"
	invalid        class = "validation"
	unexplained    class = "unknown"
)

// A fault is an answer that is not "ok". It keeps the class and, of a
// validation, the keys; never the text, which may hold passwords and SQL.
type fault struct {
	class class
	keys  []string
}

func (f *fault) Error() string {
	if len(f.keys) == 0 {
		return string(f.class)
	}
	return string(f.class) + " " + strings.Join(f.keys, " ")
}

// A messageTest matches a message.
type messageTest func(message string, keys []string) bool

func exactly(texts ...string) messageTest {
	return func(message string, _ []string) bool { return slices.Contains(texts, message) }
}

func begins(texts ...string) messageTest {
	return func(message string, _ []string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.HasPrefix(message, t) })
	}
}

func containing(text string) messageTest {
	return func(message string, _ []string) bool { return strings.Contains(message, text) }
}

func key(matches func(string) bool) messageTest {
	return func(_ string, keys []string) bool { return slices.ContainsFunc(keys, matches) }
}

func keyIn(names ...string) messageTest {
	return key(func(k string) bool { return slices.Contains(names, k) })
}

var plainKey = regexp.MustCompile(`^[a-z0-9_]+$`)

func onlyKeys(_ string, keys []string) bool {
	return len(keys) > 0 && !slices.ContainsFunc(keys, func(k string) bool { return !plainKey.MatchString(k) })
}

// The first line that matches counts.
var meanings = []struct {
	class class
	says  messageTest
}{
	{expired, exactly("The Session is expired or does not exist.")},
	{locked, exactly("The login failure limit has been reached.", "The Session failure limit has been reached.")},
	{badCredentials, exactly("The login failed. Username or password wrong.")},
	{badAddress, exactly("Session IP mismatch.")},
	{badAddress, begins("The login is not allowed from ")},
	{noPermission, exactly("You do not have the permissions to access this function.")},
	{maintenance, begins("This ISPConfig installation is currently under maintenance.")},
	{wrongCall, exactly("The SessionID is empty.", "Wrong SessionID datatype.", "The ID has to be > 0 or -1.",
		"The ID passed to the function must be > 0", "The status is not available", "Selected client is not a reseller.",
		"The login username is empty.", "The login password is empty.")},
	{conflict, begins("Duplicate entry '")},
	{wrongCall, begins("You have an error in your SQL syntax", "Unknown column")},
	{conflict, key(func(k string) bool { return strings.HasSuffix(k, "_error_unique") })},
	{conflict, exactly("Group plus name field combination is not unique.")},
	{conflict, keyIn("Duplicate username", "username_error_collision")},
	{
		conflict,
		exactly("There is already a database with that name on the same server.", "There is already a mailbox with this email address."),
	},
	{absent, exactly("There is no user account for this user name.", "There is no user account for this customer number.",
		"There is no group for this client ID.",
		"There is no record with this group plus name field combination.", "There is no user account for this client_id")},
	{noClient, begins("Invalid client_id ")},
	{noMailDomain, func(m string, _ []string) bool {
		return strings.HasPrefix(m, "Mail domain - ") && strings.HasSuffix(m, " - does not exist as primary.")
	}},
	{noSite, keyIn("directory_error_notinweb", "invalid_system_user_or_group_txt")},
	{weakPassword, containing("does not match the security guidelines")},
	{invalid, onlyKeys},
}

// classify reads an answer that is not "ok".
func classify(code, message string) *fault {
	if strings.HasPrefix(code, "invalid_") {
		return &fault{class: wrongCall, keys: []string{code}}
	}
	keys := split(message)
	for _, m := range meanings {
		if m.says(message, keys) {
			return &fault{class: m.class, keys: harmless(keys)}
		}
	}
	return &fault{class: unexplained}
}

// split parts the keys of a validation, which are joined by "<br>" or "<br />".
func split(message string) []string {
	var keys []string
	for part := range strings.SplitSeq(message, "<br") {
		if part = strings.Trim(part, "\r\n />"); part != "" {
			keys = append(keys, part)
		}
	}
	return keys
}

// harmless are the keys that cannot quote anything.
func harmless(keys []string) []string {
	return slices.DeleteFunc(keys, func(k string) bool { return !plainKey.MatchString(k) })
}

// What each class means for the next attempt. What is not listed is unknown.
var consequences = map[class]struct {
	class domain.Class
	code  string
	hint  string
}{
	expired:        {domain.Transient, "engine_session", "sessions do not live"},
	locked:         {domain.Transient, "engine_locked", "the engine has locked us out, or soon would"},
	badCredentials: {domain.Transient, "engine_credentials", "the remote user's name or password is wrong"},
	badAddress:     {domain.Transient, "engine_address", "the remote user may not come from this address"},
	noPermission:   {domain.Transient, "engine_permission", "the remote user lacks a function"},
	maintenance:    {domain.Transient, "engine_maintenance", "the engine is under maintenance"},
	wrongCall:      {domain.Permanent, "engine_call", "the engine does not understand the call"},
	conflict:       {domain.Permanent, "name_taken", "there is one with this name"},
	absent:         {domain.Permanent, "absent", "it is not there"},
	noClient:       {domain.Permanent, "owner_missing", "the owning client does not exist"},
	noMailDomain:   {domain.Transient, "parent_missing", "the mail domain does not exist yet"},
	noSite:         {domain.Permanent, "parent_missing", "the site is not what it was"},
	weakPassword:   {domain.Permanent, "password_weak", "the engine wants a stronger password"},
	invalid:        {domain.Permanent, "invalid", "the engine refuses the values"},
}

// failure is the fault as the rest of the program sees it.
func (f *fault) failure(function string, after time.Duration) error {
	c, known := consequences[f.class]
	if !known {
		return unclear(function, f)
	}
	err := fmt.Errorf("%s: %s: %w", function, c.hint, f)
	failure := &domain.Failure{Class: c.class, Code: c.code, RetryAfter: after, Err: err}
	switch f.class {
	case badCredentials:
		failure.Lacks = "login"
	case badAddress:
		failure.Lacks = "address"
	case noPermission:
		failure.Lacks, failure.RetryAfter, failure.Rest = function, lackAgain, lackRest
	default: // it is about what was asked
	}
	return failure
}

// Without a function, or with an engine that is not as it should be, all that needs
// it waits, and what does not need it a little.
const (
	lackAgain = 5 * time.Minute
	lackRest  = 30 * time.Second
)

// lacking is the failure of an engine that is not as the settings say, whatever is
// asked of it. What waits for it goes on by itself once an operator has mended it.
func lacking(code, what string, err error) error {
	return &domain.Failure{Class: domain.Transient, Code: code, Lacks: what, RetryAfter: lackAgain, Rest: lackRest, Err: err}
}

var errNoAddress = errors.New("the web server has no IPv4 address that is no client's")

// ofTheWhole makes a refusal of what is asked before every write one of the engine as
// a whole: it is not about the write.
func ofTheWhole(err error) error {
	if f, is := errors.AsType[*domain.Failure](err); is && f.Class == domain.Permanent {
		return lacking(f.Code, f.Code, err)
	}
	return err
}

// refusedAs tells whether err is a failure that follows from a fault of the class.
func refusedAs(err error, c class) bool {
	f, ok := errors.AsType[*fault](err)
	return ok && f.class == c
}

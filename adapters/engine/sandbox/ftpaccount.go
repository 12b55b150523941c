package sandbox

import (
	"regexp"
	"slices"
	"strings"

	"hostpanel/domain/hosting"
)

func init() { rules["ftp_account"] = rule{check: ftp, under: "site", secret: "password"} }

var account = regexp.MustCompile(`^[A-Za-z0-9_.@+-]{1,64}$`)

func ftp(o hosting.EngineObject) error {
	directory := text(o, "directory")
	inside := directory == "" || strings.HasPrefix(directory, "/") && !slices.Contains(strings.Split(directory, "/"), "..")
	return need(account.MatchString(o.Name) && inside, "not the name of an account, or not a directory below its site")
}

package hosting_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestFTPAccounts(t *testing.T) {
	const pattern = "This value does not match the required pattern."
	account := func(more string) string {
		return `{"site":3,"username":"ana@example.com","password":"correct horse"` + more + `}`
	}
	answers(t, "ftp_account", placeOf("ftp_account"), []asked{
		{account(""), `{"site":3,"username":"ana@example.com","directory":"/","quota_mb":-1,"is_active":true}`},
		{account(`,"directory":"/web/my images","quota_mb":"5"`), `{"directory":"/web/my images","quota_mb":5}`},
		{account(`,"directory":"web"`), `{"directory":["` + pattern + `"]}`},
		{account(`,"directory":"/a/../b"`), `{"directory":["` + pattern + `"]}`},
		{account(`,"directory":"//a"`), `{"directory":["` + pattern + `"]}`},
		{`{"site":3,"username":"-a","password":"correct horse"}`, `{"username":["` + pattern + `"]}`},
		{`{"site":3,"username":"` + long(65) + `","password":"correct horse"}`, `{"username":["` + pattern + `"]}`},
		{`{}`, `{"site":["This field is required."],"username":["This field is required."],"password":["This field is required."]}`},
	})
	spec, _ := create("ftp_account", account(""), placeOf("ftp_account"))
	const fixed = `{"site":["This field cannot be changed."],"username":["This field cannot be changed."]}`
	if wrong := change(spec, `{"site":4,"username":"x"}`, placeOf("ftp_account")); wrong != fixed {
		t.Error(wrong)
	}
}

func TestShellUsers(t *testing.T) {
	user := func(more string) string { return `{"site":3,"username":"ana"` + more + `}` }
	answers(t, "shell_user", placeOf("shell_user"), []asked{
		{
			user(`,"password":"correct horse"`),
			`{"site":3,"username":"ana","ssh_public_key":"","shell":"/bin/bash","chroot":"jailkit","quota_mb":-1,` +
				`"home_directory":"","is_active":true}`,
		},
		{user(`,"ssh_public_key":"` + keyED25519 + `","shell":"/bin/sh"`), `{"ssh_public_key":"` + keyED25519 + `","shell":"/bin/sh"}`},
		{user(``), `{"non_field_errors":["Provide a password or an SSH public key."]}`},
		{user(`,"password":"short"`), `{"password":["Ensure this field has at least 8 characters."]}`},
		{
			user(`,"password":"correct horse","shell":"/bin/zsh","chroot":"cage"`),
			`{"shell":["\"/bin/zsh\" is not a valid choice."],"chroot":["\"cage\" is not a valid choice."]}`,
		},
		{user(`,"password":"correct horse","chroot":"none"`), `{"chroot":["\"none\" is not a valid choice."]}`},
		{`{"site":3,"username":"a b","password":"correct horse"}`, `{"username":["This value does not match the required pattern."]}`},
		{
			`{}`,
			`{"site":["This field is required."],"username":["This field is required."],` +
				`"non_field_errors":["Provide a password or an SSH public key."]}`,
		},
	})
	for _, name := range []string{
		"root", "www-data", "nobody", "Root", "mysql", "sshd", "web7", "WEB7", "web7x", "web", "client7", "debian-exim", "statd",
	} {
		answers(t, "shell_user", placeOf("shell_user"), []asked{
			{`{"site":3,"username":"` + name + `","password":"correct horse"}`, `{"username":["This username is reserved."]}`},
		})
	}
}

func TestOnlySuperusersLetAShellUserOut(t *testing.T) {
	operator := placeOf("shell_user")
	operator.Operator = true
	spec, wrong := create("shell_user", `{"site":3,"username":"ana","password":"correct horse","chroot":"none"}`, operator)
	if wrong != "" {
		t.Error(wrong)
	}
	if wrong := change(spec, `{"chroot":"none","shell":"/bin/sh"}`, placeOf("shell_user")); wrong != "" { // it is so already
		t.Error(wrong)
	}
	if wrong := change(spec, `{"ssh_public_key":""}`, placeOf("shell_user")); wrong != "" { // there is a password
		t.Error(wrong)
	}
	byKey, _ := create("shell_user", `{"site":3,"username":"ana","ssh_public_key":"`+keyED25519+`"}`, placeOf("shell_user"))
	const keyless = `{"non_field_errors":["Provide a password or an SSH public key."]}`
	if wrong := change(byKey, `{"ssh_public_key":""}`, placeOf("shell_user")); wrong != keyless {
		t.Error(wrong)
	}
}

func TestSSHPublicKeys(t *testing.T) {
	const refused = "Enter a valid SSH public key."
	for name, c := range map[string]struct{ key, want string }{
		"ed25519":               {keyED25519, ""},
		"ecdsa":                 {keyECDSA, ""},
		"rsa":                   {keyRSA, ""},
		"with a comment":        {keyRSA + " ana on her laptop", ""},
		"short rsa":             {keyRSA1024, refused},
		"options before":        {`no-pty ` + keyED25519, refused},
		"no value":              {"ssh-ed25519", refused},
		"no base64":             {"ssh-ed25519 x!", refused},
		"cut off":               {keyED25519[:60], refused},
		"another type inside":   {"ssh-rsa " + strings.Fields(keyED25519)[1], refused},
		"an unknown type":       {"ssh-dss " + strings.Fields(keyED25519)[1], refused},
		"a point off its curve": {strings.Replace(keyECDSA, keyECDSA[60:70], strings.Repeat("A", 10), 1), refused},
		"too long":              {keyED25519 + strings.Repeat("x", 2048), "Ensure this field has no more than 2048 characters."},
	} {
		_, got := create("shell_user", fmt.Sprintf(`{"site":3,"username":"ana","ssh_public_key":%q}`, c.key), placeOf("shell_user"))
		want := ""
		if c.want != "" {
			want = `{"ssh_public_key":["` + c.want + `"]}`
		}
		if got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	_, got := create("shell_user", `{"site":3,"username":"ana","ssh_public_key":"`+keyED25519+`\n`+keyRSA+`"}`, placeOf("shell_user"))
	if got != `{"ssh_public_key":["Line breaks are not allowed.","`+refused+`"]}` {
		t.Error(got)
	}
}

// Keys as ssh-keygen makes them, and one that is too short.
const (
	keyED25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJsy5JYTlfRjrP/QH9fTtSjV+ImVSVqqT0jd+A/V7T/6 ana@laptop"
	keyECDSA   = "ecdsa-sha2-nistp384 " +
		"AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBLlTov2hDpiZqQx+jSxlrRC2EJl0iY63cJkCeqjG+nzGrl/" +
		"BGqrtNWfSuvBjz2GQIzx8Udng0geN7PqFVQ6rc2xnUxaQZMraLkIsrnVAdI4IZEvR3tqQyV7D94UYZTizFg=="
	keyRSA = "ssh-rsa " +
		"AAAAB3NzaC1yc2EAAAADAQABAAABAQDOFgE4OTmc7JaYb7QXp8jZZ3P0KrIT8bXC8X3wk2ObdcInOcLrTK4zTOqtPX4BfqvRz8rDABAFIquPX" +
		"Ae6ipasseyi/4LghMrF+SSJgH8AA1ejoWW3EioAdlz23V4GF34FJFH6LJnzU3mAaaG2Yu1R7bpSuV8vuc+lXr/OgthShJY1I+8PEoH+cGgJGk" +
		"36U/O2eNZt+a42vlM1MKfPQ+UWKrsOaDLQUZmBs1NIfnqYoaOO63qnL5ljB7icxIFEBkJcSpDuvbucLJZbxuJZLirkABBllyyCfeu8LSTDwZR" +
		"KNbdeljvOpmqzvUGV/RVAhJwn/T+MNDqYXWFv5E82hzD3"
	keyRSA1024 = "ssh-rsa " +
		"AAAAB3NzaC1yc2EAAAADAQABAAAAgQDFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFx" +
		"cXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxQ=="
)

package account

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"hostpanel/domain/field"
)

const (
	passwordMin = 8 // characters
	nameMin     = 3 // characters of a name that a password must not contain

	PasswordMax  = 128  // characters of a password of an account
	PasswordRead = 1024 // characters that are read of a password that a caller sends; no account has one of that length
)

// CheckPassword checks a new password of an account by the rules of
// docs/storefront.md, "Passwords". The error is of type field.Errors.
func CheckPassword(password, username string) error {
	var wrong field.Errors
	for _, message := range PasswordProblems(password, username) {
		wrong.Add("password", message)
	}
	return wrong.Err()
}

// PasswordProblems returns one message for each rule that a new password
// breaks: its length, common passwords, digits alone, the user name in it.
func PasswordProblems(password, username string) (wrong []string) {
	length := utf8.RuneCountInString(password)
	for _, check := range []struct {
		weak    bool
		message string
	}{
		{length < passwordMin, fmt.Sprintf("This password is too short. It must contain at least %d characters.", passwordMin)},
		{length > PasswordMax, fmt.Sprintf("Ensure this field has no more than %d characters.", PasswordMax)},
		{field.IsCommonPassword(password), "This password is too common."},
		{password != "" && strings.Trim(password, "0123456789") == "", "This password is entirely numeric."},
		{containsName(password, username), "The password is too similar to the username."},
	} {
		if check.weak {
			wrong = append(wrong, check.message)
		}
	}
	return wrong
}

// containsName looks for the user name, and for its part before the @.
func containsName(password, username string) bool {
	lower := strings.ToLower(password)
	local, _, _ := strings.Cut(username, "@")
	for _, name := range []string{username, local} {
		if utf8.RuneCountInString(name) >= nameMin && strings.Contains(lower, strings.ToLower(name)) {
			return true
		}
	}
	return false
}

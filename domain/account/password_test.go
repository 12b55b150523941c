package account_test

import (
	"testing"

	"hostpanel/domain/account"
)

func TestPasswordsThatPeopleChooseFirst(t *testing.T) {
	for _, password := range []string{
		"password", "PASSWORD123", "qwertyuiop", "contraseña1", "barcelona2024", "11111111", "iloveyou!", "p@ssw0rd",
	} {
		if err := account.CheckPassword(password, "zoe@example.com"); err == nil {
			t.Errorf("%s is accepted", password)
		}
	}
	for _, password := range []string{"correct horse battery staple", "ñandú-77-cometa", "x9!kd02mz", "日本語のパスワード"} {
		if err := account.CheckPassword(password, "al@example.com"); err != nil {
			t.Errorf("%s: %v", password, err)
		}
	}
}

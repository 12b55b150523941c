package notice_test

import (
	"regexp"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
)

func TestALinkToJoinIsOneOrderOfOneUser(t *testing.T) {
	j := notice.Joining{User: 12, Order: uuid.MustParse("6f1c0d6e-0000-4000-8000-000000000001")}
	token := j.Token(presentKey)
	if got, ok := notice.ReadJoining(token, formerKey, presentKey); !ok || got != j {
		t.Errorf("%+v %v", got, ok)
	}
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{76}$`).MatchString(token) {
		t.Error(token)
	}
	for _, wrong := range []string{"", token[1:], token + "A", ana.Token(presentKey), j.Token(formerKey)} {
		if got, ok := notice.ReadJoining(wrong, presentKey); ok {
			t.Errorf("%q is read as %+v", wrong, got)
		}
	}
	if u, ok := notice.ReadUnsubscription(token, presentKey); ok {
		t.Errorf("it also unsubscribes: %+v", u)
	}
	if _, ok := notice.ReadJoining(token); ok {
		t.Error("read without any key")
	}
}

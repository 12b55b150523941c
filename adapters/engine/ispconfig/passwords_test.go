package ispconfig_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/domain/hosting"
)

// What an installation of 3.2.12 has said of these passwords: the least strength that it
// refuses them at.
var measured = map[string]int{
	"abcdefgh": 3, "abcdefghi": 4, "Abcdefg1": 4, "abcdefghijklmnopqrst": 4, "Abcdefghijk": 4, "Abcdefghij1": 6, "Abcdefgh-1": 6,
	"Abc-1": 4, "Abcdef-1": 5, "Abcde-1": 5, "ABCDEFGHIJK1": 4, "ab-1cdefghi": 6, "AbcdefghijklmnoP": 4, "1234-ABCDEFG": 6,
	`a\bcdefghij1`: 4, "äöüäöüä1A-": 6, "aaaa": 2,
}

// The form measures a password as the engine does, which would refuse it after the answer.
func TestAPasswordThatTheEngineFindsWeakIsRefusedAtTheForm(t *testing.T) {
	for password, refusedAt := range measured {
		for strength := range 6 {
			w := empty(t)
			w.fake.Passwords = ispconfigtest.PasswordRule{Length: 4, Strength: strength}
			w.client = w.create(tenant("t17"))
			w.made["site"] = w.create(w.object("site"))
			o := w.object("ftp_account")
			o.Secrets = hosting.Secrets{"password": password}
			wrong, err := w.engine.CheckForm(t.Context(), o)
			if err != nil || wrong.Has("password") != (strength >= refusedAt) {
				t.Errorf("%s at %d: %v, %v", password, strength, wrong, err)
			}
			if _, err := w.engine.Create(t.Context(), o); (err == nil) != (len(wrong) == 0) {
				t.Errorf("%s at %d: the form says %v, the engine %v", password, strength, wrong, err)
			}
		}
	}
}

// All passwords that the engine keeps follow its rule, new ones and changed ones, and its
// length counts bytes as they are sent.
func TestEachKindOfPasswordFollowsTheEnginesRule(t *testing.T) {
	w := empty(t)
	w.fake.Passwords = ispconfigtest.PasswordRule{Length: 12, Strength: 5}
	w.client = w.create(tenant("t17"))
	for _, kind := range kinds {
		w.made[kind] = w.create(w.object(kind))
	}
	for kind, field := range map[string]string{
		"database": "db_password", "mailbox": "password", "ftp_account": "password", "shell_user": "password",
	} {
		for _, changed := range [][]string{nil, {field}} {
			o := w.object(kind)
			o.Changed, o.Secrets = changed, hosting.Secrets{field: "Short-Pass1"}
			wrong, err := w.engine.CheckForm(t.Context(), o)
			if err != nil || len(wrong) != 1 || wrong[0].Field != field || !strings.Contains(wrong[0].Messages[0], "longer") {
				t.Errorf("%s: %v, %v", kind, wrong, err)
			}
			if o.Secrets[field] = secret; changed != nil {
				o.Changed = []string{"is_active"}
			}
			if wrong, err := w.engine.CheckForm(t.Context(), o); err != nil || len(wrong) > 0 {
				t.Errorf("%s: %v, %v", kind, wrong, err)
			}
		}
	}
	o := w.object("mailbox")
	o.Secrets = hosting.Secrets{"password": "Xö-1aö-1"} // 10 bytes, and 14 as they are sent
	if wrong, err := w.engine.CheckForm(t.Context(), o); err != nil || len(wrong) > 0 {
		t.Error(wrong, err)
	}
}

// An engine that does not answer makes no form fail and keeps none waiting for another: what
// is known without it is refused, by the last rule that it told.
func TestAFormDoesNotFailForAnEngineThatIsSlow(t *testing.T) {
	w := inhabited(t)
	o := with(w.object("ftp_account"), "directory", "/ñ")
	o.Changed, o.Secrets = nil, hosting.Secrets{"password": "abcdefgh"}
	w.fake.Order(ispconfigtest.Fault{Function: "system_config_get", What: ispconfigtest.Slow, Delay: 3 * time.Second})
	const callers = 20
	began := time.Now()
	answers := make(chan error, callers)
	for range callers {
		go func() {
			short, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer end()
			wrong, err := w.engine.CheckForm(short, o)
			if len(wrong) != 1 || !strings.Contains(wrong[0].Messages[0], "directory") {
				err = errors.Join(err, errors.New("it does not say what is known"))
			}
			answers <- err
		}()
	}
	for range callers {
		if err := <-answers; err != nil && strings.Contains(err.Error(), "known") {
			t.Error(err)
		}
	}
	if took := time.Since(began); took > callers*100*time.Millisecond {
		t.Errorf("they waited for each other: %s", took)
	}
	again := w.open(w.config)
	if wrong, err := again.CheckForm(t.Context(), o); err != nil || !wrong.Has("password") {
		t.Fatal(wrong, err)
	}
	w.fake.Pass(time.Hour)
	w.fake.Order(ispconfigtest.Fault{Function: "system_config_get", What: ispconfigtest.Permission})
	if wrong, err := again.CheckForm(t.Context(), o); err != nil || !wrong.Has("password") {
		t.Error("the last rule does not count", wrong, err)
	}
}

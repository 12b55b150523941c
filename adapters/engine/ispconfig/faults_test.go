package ispconfig

import (
	"encoding/json"
	"errors"
	"testing"

	"hostpanel/domain"
)

// E1: every text of the engine has its meaning (docs/engine-ispconfig.md, "What
// the engine says").
func TestEveryTextOfTheEngineIsUnderstood(t *testing.T) {
	for _, c := range []struct {
		message string
		class   domain.Class
		code    string
	}{
		{"The Session is expired or does not exist.", domain.Transient, "engine_session"},
		{"The login failure limit has been reached.", domain.Transient, "engine_locked"},
		{"The Session failure limit has been reached.", domain.Transient, "engine_locked"},
		{"The login failed. Username or password wrong.", domain.Transient, "engine_credentials"},
		{"Session IP mismatch.", domain.Transient, "engine_address"},
		{"The login is not allowed from 192.0.2.1", domain.Transient, "engine_address"},
		{"You do not have the permissions to access this function.", domain.Transient, "engine_permission"},
		{"This ISPConfig installation is currently under maintenance. We should be back shortly.", domain.Transient, "engine_maintenance"},
		{"The SessionID is empty.", domain.Permanent, "engine_call"},
		{"Wrong SessionID datatype.", domain.Permanent, "engine_call"},
		{"The ID has to be > 0 or -1.", domain.Permanent, "engine_call"},
		{"The status is not available", domain.Permanent, "engine_call"},
		{"You have an error in your SQL syntax; check the manual", domain.Permanent, "engine_call"},
		{"Unknown column 'secret' in 'field list'", domain.Permanent, "engine_call"},
		{"Duplicate entry '7777' for key 'PRIMARY' INSERT INTO `dns_rr` VALUES ('secret')", domain.Permanent, "name_taken"},
		{"customer_no_error_unique<br />\r\nusername_error_unique<br>\r\nDuplicate username<br />", domain.Permanent, "name_taken"},
		{"username_error_collision<br />\r\n", domain.Permanent, "name_taken"},
		{"There is already a database with that name on the same server.", domain.Permanent, "name_taken"},
		{"There is already a mailbox with this email address.", domain.Permanent, "name_taken"},
		{"There is no user account for this user name.", domain.Permanent, "absent"},
		{"There is no group for this client ID.", domain.Permanent, "absent"},
		{"Invalid client_id 12", domain.Permanent, "owner_missing"},
		{"Mail domain - acme.test - does not exist as primary.", domain.Transient, "parent_missing"},
		{"uid_error_empty<br />\r\ninvalid_system_user_or_group_txt<br>\r\n", domain.Permanent, "parent_missing"},
		{"The chosen password does not match the security guidelines. It has to be at least 8 chars.", domain.Permanent, "password_weak"},
		{"ttl_range_error<br />\r\n", domain.Permanent, "invalid"},
		{"origin_error_empty<br>\r\nns_error_regex<br />", domain.Permanent, "invalid"},
		{"Something secret went wrong", domain.Unknown, "no_answer"},
		{"", domain.Unknown, "no_answer"},
	} {
		err := classify("remote_fault", c.message).failure("f", 0)
		f, ok := errors.AsType[*domain.Failure](err)
		if !ok || f.Class != c.class || f.Code != c.code {
			t.Errorf("%q: %v", c.message, err)
		}
		for _, told := range []string{"secret", "INSERT", "acme", "192.0.2.1"} {
			if contains(err.Error(), told) {
				t.Errorf("%q is repeated: %v", c.message, err)
			}
		}
	}
	if f := classify("invalid_method", "Method x does not exist"); f.class != wrongCall {
		t.Error(f)
	}
}

// What the engine does not grant at all is told apart from what was asked.
func TestWhatIsNotGrantedIsNamed(t *testing.T) {
	for message, want := range map[string]string{
		"The login failed. Username or password wrong.":            "login",
		"Session IP mismatch.":                                     "address",
		"The login is not allowed from 192.0.2.1":                  "address",
		"You do not have the permissions to access this function.": "sites_cron_add",
		"ttl_range_error<br />":                                    "",
		"The Session is expired or does not exist.":                "",
	} {
		if lacks := domain.LackOf(classify("remote_fault", message).failure("sites_cron_add", 0)); lacks != want {
			t.Errorf("%s: %q", message, lacks)
		}
	}
}

func contains(s, part string) bool { return containing(part)(s, nil) }

// F2: the engine reads the columns of a filter up to the first paging key.
func TestMembersKeepTheirOrder(t *testing.T) {
	raw, err := json.Marshal(members{{"server_id", 1}, {"domain", "a.test"}, {"#LIMIT#", 5}, {"params", members{}}})
	if err != nil || string(raw) != `{"server_id":1,"domain":"a.test","#LIMIT#":5,"params":{}}` {
		t.Errorf("%s %v", raw, err)
	}
}

// P2: one thing has many shapes.
func TestRowsComeInManyShapes(t *testing.T) {
	for raw, want := range map[string]int{
		`null`: 0, `false`: 0, `[]`: 0, `{"id":"1"}`: 1, `[{"id":1,"secret":"x"},{"id":null}]`: 2,
	} {
		rows, err := pick(json.RawMessage(raw), []string{"id"})
		if err != nil || len(rows) != want {
			t.Error(raw, rows, err)
		}
		for _, r := range rows {
			if _, kept := r["secret"]; kept {
				t.Error("a column that was not asked for is kept")
			}
		}
	}
	for _, raw := range []string{`"text"`, `7`, `[1]`, `[[`} {
		if _, err := pick(json.RawMessage(raw), []string{"id"}); err == nil {
			t.Error(raw, "are rows")
		}
	}
	var n id
	for raw, want := range map[string]id{`"5"`: 5, `5`: 5} {
		if err := json.Unmarshal([]byte(raw), &n); err != nil || n != want {
			t.Error(raw, n, err)
		}
	}
	for _, raw := range []string{`"0"`, `-1`, `false`, `"x"`, `true`} {
		if err := json.Unmarshal([]byte(raw), &n); err == nil {
			t.Error(raw, "is a number")
		}
	}
}

func TestSerialsCountAsTheEngineDoes(t *testing.T) {
	for _, c := range []struct{ serial, today, want string }{
		{"2026112101", "20261121", "2026112102"},
		{"2026112099", "20261121", "2026112101"},
		{"2026112199", "20261121", "2026112200"},
		{"2026123199", "20261121", "2027010100"},
		{"2026122005", "20261121", "2026122006"},
		{"", "20261121", "2026112101"},
		{"7", "20261121", "2026112101"},
	} {
		if got := raised(c.serial, c.today); got != c.want {
			t.Errorf("after %s comes %s", c.serial, got)
		}
	}
}

// F1: what no table has would find nothing, and nothing is what "not there"
// looks like. The double knows every column.
func TestEveryKindHasANameAndANumber(t *testing.T) {
	for _, r := range resources {
		if r.apart != nil || r == &databaseUsers {
			continue
		}
		if r.kind == "" || r.key == "" || r.table == "" || len(r.stems) == 0 || r.name == nil || r.on == nil ||
			r.turns == nil || r.queries == nil && r.find == nil {
			t.Errorf("%s is not told whole", r.kind)
		}
	}
}

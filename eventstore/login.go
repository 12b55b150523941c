package eventstore

import "fmt"

// EndTokens ends all links of a user that are still out for a purpose.
func EndTokens(user int64, purpose string) Row {
	return Row{
		Key:  fmt.Sprintf("one_time_tokens/%d/%s/0", user, purpose),
		SQL:  `update one_time_tokens set expires_at = least(expires_at, now()) where user_id = $1 and purpose = $2 and used_at is null`,
		Args: []any{user, purpose}, Touches: AnyRows,
	}
}

// EndLogins takes everything from a user that one can sign in with: password,
// links, tokens and sessions.
func EndLogins(user int64) []Row {
	var rows []Row
	for _, table := range []string{"browser_sessions", "credentials", "one_time_tokens", "refresh_families"} {
		rows = append(rows, Row{
			Key: fmt.Sprintf("%s/%d", table, user), SQL: "delete from " + table + " where user_id = $1", Args: []any{user}, Touches: AnyRows,
		})
	}
	return rows
}

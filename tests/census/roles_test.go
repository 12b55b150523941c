//go:build system

package census_test

// What each role may do with which object, as the table of permissions says it.

func everybody(_, object string) string {
	if object == missing {
		return absent
	}
	return in
}

// holdersOfTickets are those who bring a ticket that was issued for what they call. None of the
// roles has one.
func holdersOfTickets(string, string) string { return forbidden }

func signedIn(role, object string) string {
	switch role {
	case "not signed in", "storefront key":
		return unknown
	}
	return everybody(role, object)
}

// sessionsOnly refuses tokens; a test of their own makes every call by session.
func sessionsOnly(role, object string) string {
	if signedIn(role, object) == unknown {
		return unknown
	}
	return forbidden
}

// recipients see their own notifications. Superusers have no further rights.
func recipients(role, object string) string {
	if signedIn(role, object) == in && object == ofB && role != "administrator of B" {
		return absent
	}
	return signedIn(role, object)
}

func superusers(role, object string) string {
	switch role {
	case "superuser":
		return everybody(role, object)
	case "not signed in", "storefront key":
		return unknown
	}
	return forbidden
}

// visitors are users with a browser session.
func visitors(role, object string) string {
	if signedIn(role, object) == unknown {
		return toLogin
	}
	return in
}

// membersInABrowser see the pages of the tenant for which they act.
func membersInABrowser(role, object string) string {
	if visitors(role, object) == toLogin {
		return toLogin
	}
	return members(role, object)
}

// administratorsInABrowser act for a tenant as its administrators, or operate the
// installation.
func administratorsInABrowser(role, object string) string {
	if visitors(role, object) == toLogin {
		return toLogin
	}
	return administrators(role, object)
}

// exportersInABrowser are administrators. Others are refused the tenants that they see.
func exportersInABrowser(role, object string) string {
	answer := administratorsInABrowser(role, object)
	if answer == forbidden && (role != "member of A" || object != ofA) {
		return absent
	}
	return answer
}

// membersWritingInABrowser act for a tenant, or operate the installation.
func membersWritingInABrowser(role, object string) string {
	if visitors(role, object) == toLogin {
		return toLogin
	}
	return membersWriting(role, object)
}

func operatorsInABrowser(role, object string) string {
	if role == "superuser" {
		return everybody(role, object)
	}
	if visitors(role, object) == toLogin {
		return toLogin
	}
	return forbidden
}

// operatorsOnly admits superusers from another machine. Local calls need no token.
func operatorsOnly(role, object string) string { return superusers(role, object) }

// ownTenants shows users the tenants that they belong to; others do not exist.
func ownTenants(role, object string) string {
	own := map[string]string{"member of A": ofA, "administrator of A": ofA, "administrator of B": ofB}
	switch {
	case signedIn(role, object) != in, role == "superuser", object == ofNobody:
		return signedIn(role, object)
	case own[role] == object:
		return in
	}
	return absent
}

// members see the records of the tenant for which they act.
func members(role, object string) string {
	own := map[string]string{"member of A": ofA, "administrator of A": ofA, "administrator of B": ofB}[role]
	switch {
	case role == "superuser", signedIn(role, object) == unknown:
		return signedIn(role, object)
	case object == ofNobody, object == own:
		return in
	}
	return absent
}

// membersWriting admits users who act for a tenant, and superusers.
func membersWriting(role, object string) string {
	if role == "no tenant" {
		return forbidden
	}
	return members(role, object)
}

// administrators see the records of the tenant for which they act.
func administrators(role, object string) string {
	own := map[string]string{"administrator of A": ofA, "administrator of B": ofB}[role]
	switch {
	case role == "superuser", signedIn(role, object) == unknown:
		return signedIn(role, object)
	case own == "":
		return forbidden
	case object == ofNobody, object == own:
		return in
	}
	return absent
}

// holdersOfKeys see orders that were placed with the same owner's keys.
func holdersOfKeys(role, object string) string {
	switch {
	case role != "storefront key":
		return unknown
	case object == ofB:
		return absent
	}
	return everybody(role, object)
}

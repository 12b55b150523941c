package hosting

// syncErrors are what customers are told of the code with which the engine has
// refused to do something. Nothing in them comes from the engine itself
// (docs/hosting.md, "The engine").
var syncErrors = map[string]string{
	"absent":          "The server does not know this record any more.",
	"invalid":         "The server refuses these values.",
	"name_taken":      "The server has another one with this name.",
	"not_supported":   "The server cannot do this.",
	"owner_missing":   "The tenant has no account at the server yet.",
	"parent_missing":  "What this is a part of does not exist at the server.",
	"password_weak":   "The server wants a stronger password.",
	"secret_needed":   "The password is no longer at hand. Please set it again.",
	"foreign":         "The server has one with this name that belongs to another customer.",
	"quota_exceeded":  "The server has no room for this.",
	"engine_refused":  "The server has accepted this and could not carry it out. The next change tries again.",
	"not_shown":       "The server has accepted this and does not show it. The next change tries again.",
	"not_issued":      notIssued,
	"not_ready":       notIssued,
	"not_covered":     notIssued,
	"rate_limited":    "The certificate authority has issued too many certificates for this domain lately.",
	"site_inactive":   "The site is not active.",
	"invalid_request": "The server refuses these values.",
}

const notIssued = "The certificate was not issued. Do all its names lead to the site?"

const unexplained = "The server refused the change. Please contact support."

// syncError is the sentence for a code; "" if nothing was refused.
func syncError(code string) string {
	if code == "" {
		return ""
	}
	if sentence, known := syncErrors[code]; known {
		return sentence
	}
	return unexplained
}

package account

// NotReached are the places that an erasure leaves as they are (docs/accounts.md,
// "Erasure").
var NotReached = []string{
	"mails at the mail server, and in the mailboxes of those who received them",
	"mailboxes and aliases at the hosting engine: their address is what they are",
	"logins at the hosting engine, and former contact data in its journal, logs and backups",
	"free text that operators have written, such as the reason of a refund",
	"kept answers of requests that showed the person, for a day or as long as Idempotency-Keys are kept",
	"backups, logs of other systems, and what payment providers keep",
}

package paypal

import (
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/order"
)

// A checkout is PayPal's order, as its API writes it: what the customer is
// asked for, and what has become of it.
type checkout struct {
	ID      string    `json:"id"`
	Status  string    `json:"status"`
	Units   []unit    `json:"purchase_units"`
	Links   []link    `json:"links"`
	Created time.Time `json:"create_time"`
	Updated time.Time `json:"update_time"`
	Source  struct {
		PayPal struct {
			Attributes struct {
				Vault vault `json:"vault"`
			} `json:"attributes"`
		} `json:"paypal"`
	} `json:"payment_source"`
}

// A unit is one purchase within it. Ours have one.
type unit struct {
	Kind      string `json:"reference_id"` // that of a charge is [chargeKind]
	Reference string `json:"custom_id"`
	Amount    amount `json:"amount"`
	Payee     struct {
		Merchant string `json:"merchant_id"`
	} `json:"payee"`
	Payments struct {
		Captures []capture `json:"captures"`
		Refunds  []refund  `json:"refunds"`
	} `json:"payments"`
}

// A capture is money taken.
type capture struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Amount  amount `json:"amount"`
	Details struct {
		Reason string `json:"reason"`
	} `json:"status_details"`
	Created time.Time `json:"create_time"`
}

// A refund is money given back, by us or by PayPal, who calls the latter a
// reversal.
type refund struct {
	ID        string    `json:"id"`
	Status    string    `json:"status"`
	Amount    amount    `json:"amount"`
	Reference string    `json:"custom_id"`
	Number    string    `json:"invoice_id"`
	Links     []link    `json:"links"`
	Created   time.Time `json:"create_time"`
}

type link struct {
	Rel  string `json:"rel"`
	Href string `json:"href"`
}

// sessions says how far a session is whose order has a status.
var sessions = map[string]order.SessionState{
	"CREATED":               order.SessionOpen,
	"SAVED":                 order.SessionOpen,
	"PAYER_ACTION_REQUIRED": order.SessionOpen,
	"APPROVED":              order.SessionApproved,
	"COMPLETED":             order.SessionComplete,
	"VOIDED":                order.SessionExpired,
}

// paymentStates says how far a payment is whose capture has a status. What was
// given back since hangs on it; it was paid all the same.
var paymentStates = map[string]order.PaymentState{
	"COMPLETED":          order.StatePaid,
	"PARTIALLY_REFUNDED": order.StatePaid,
	"REFUNDED":           order.StatePaid,
	"PENDING":            order.StatePending,
	"DECLINED":           order.StateFailed,
	"DENIED":             order.StateFailed,
	"FAILED":             order.StateFailed,
}

// refundStates says how far a refund is.
var refundStates = map[string]order.RefundState{
	"COMPLETED": order.RefundSucceeded,
	"PENDING":   order.RefundPending,
	"FAILED":    order.RefundStopped,
	"CANCELLED": order.RefundStopped,
}

// ids are PayPal's own. They go into addresses, and webhooks may claim any.
var ids = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// numbered is our reference of a refund, see [order.RefundCall].
var numbered = regexp.MustCompile(`^order/([0-9a-f-]{36})/refund/([0-9]{1,9})$`)

// PayPal allows no slashes in the references that it keeps for us.
func written(reference string) string { return strings.ReplaceAll(reference, "/", ".") }
func readBack(text string) string     { return strings.ReplaceAll(text, ".", "/") }

// byMark stands before the panel's installation in what PayPal keeps for us: another one may
// use the same account.
const byMark = ".by."

// told is a reference with the installation that made it.
func told(reference, by string) string {
	if by == "" {
		return reference
	}
	return reference + byMark + by
}

// parted are our reference and the installation that made it, without why a charge was refused.
func parted(text string) (reference, by string) {
	text, _, _ = strings.Cut(text, refusedMark)
	reference, by, _ = strings.Cut(text, byMark)
	return reference, by
}

// orderOf reads which order of ours a reference belongs to; zero: none.
func orderOf(text string) uuid.UUID {
	reference, _ := parted(text)
	if parts := numbered.FindStringSubmatch(readBack(reference)); parts != nil {
		reference = parts[1]
	}
	id, err := uuid.Parse(reference)
	if err != nil || len(reference) != len(id.String()) {
		return uuid.Nil
	}
	return id
}

// captured is the id of the capture that a refund points up to.
func captured(links []link) string {
	for _, l := range links {
		if _, id, found := strings.Cut(l.Href, "/payments/captures/"); l.Rel == "up" && found && ids.MatchString(id) {
			return id
		}
	}
	return ""
}

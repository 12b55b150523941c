package paypal

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// An event is the body of a webhook. Nothing in it is believed but what it
// refers to.
type event struct {
	ID       string `json:"id"`
	Type     string `json:"event_type"`
	Resource struct {
		ID        string `json:"id"`       // of an order, a capture or a refund
		Order     string `json:"order_id"` // in news of an approval that was taken back
		Reference string `json:"custom_id"`
		Units     []unit `json:"purchase_units"`
		Related   struct {
			IDs struct {
				Order   string `json:"order_id"`
				Capture string `json:"capture_id"`
			} `json:"related_ids"`
		} `json:"supplementary_data"`
		Customer owner `json:"customer"` // of a method
		Metadata struct {
			Order string `json:"order_id"` // with whose payment a method was kept
		} `json:"metadata"`
		Links    []link `json:"links"`
		Disputed []struct {
			Capture   string `json:"seller_transaction_id"`
			Reference string `json:"custom"`
		} `json:"disputed_transactions"`
	} `json:"resource"`
}

// about says what the resource of each type of event is that we act on. Those
// of disputes have more names than PayPal lists.
var about = map[string]string{
	"CHECKOUT.ORDER.APPROVED":            "order",
	"CHECKOUT.ORDER.COMPLETED":           "order",
	"CHECKOUT.ORDER.VOIDED":              "order",
	"CHECKOUT.PAYMENT-APPROVAL.REVERSED": "order",
	"PAYMENT.CAPTURE.COMPLETED":          "capture",
	"PAYMENT.CAPTURE.PENDING":            "capture",
	"PAYMENT.CAPTURE.DENIED":             "capture",
	"PAYMENT.CAPTURE.DECLINED":           "capture",
	"PAYMENT.CAPTURE.REFUNDED":           "refund",
	"PAYMENT.CAPTURE.REVERSED":           "refund",
	"PAYMENT.REFUND.PENDING":             "refund",
	"PAYMENT.REFUND.FAILED":              "refund",
	"VAULT.PAYMENT-TOKEN.CREATED":        "method",
}

func (e event) about() string {
	if strings.HasPrefix(e.Type, disputeTypes) {
		return "dispute"
	}
	return about[e.Type]
}

// news are the references in a verified event.
func (p *Provider) news(raw []byte, transmission, by string) (order.News, error) {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil || !ids.MatchString(e.ID) || e.Type == "" || len(e.Type) > 128 {
		return order.News{}, domain.Refuse(domain.Invalid, "Invalid event.")
	}
	n := order.News{
		EventID: e.ID, TransmissionID: transmission, Type: e.Type, VerifiedBy: by, Live: p.Live(), Handled: e.about() != "",
	}
	session, payment, reference := e.references()
	n.ObjectRef, n.Payment, n.Order = known(session), known(payment), orderOf(reference)
	_, n.Installation = parted(reference)
	if e.about() == "method" {
		n.Handled = n.ObjectRef != "" || n.Order != uuid.Nil // else neither an order nor a setup has kept it
	}
	return n, nil
}

// references are PayPal's ids of the order and the capture, and our own of the
// order, as far as the event has them.
func (e event) references() (session, payment, reference string) {
	r := e.Resource
	session, reference = cmp.Or(r.Related.IDs.Order, r.Order), r.Reference
	switch e.about() {
	case "order":
		session = cmp.Or(session, r.ID)
		if len(r.Units) > 0 {
			reference = cmp.Or(reference, r.Units[0].Reference)
		}
	case "capture":
		payment = r.ID
	case "method":
		session, reference = r.Metadata.Order, r.Customer.Reference
	case "refund":
		payment = cmp.Or(r.Related.IDs.Capture, captured(r.Links))
	case "dispute":
		if len(r.Disputed) > 0 {
			payment, reference = r.Disputed[0].Capture, cmp.Or(reference, r.Disputed[0].Reference)
		}
	}
	return session, payment, reference
}

// known is an id, or nothing if it cannot be one of PayPal's.
func known(id string) string {
	if ids.MatchString(id) {
		return id
	}
	return ""
}

// disputeTypes is the beginning of the types of webhooks about disputes.
const disputeTypes = "CUSTOMER.DISPUTE."

// DisputeTypes is the beginning of the types of webhooks about disputes. Their
// bodies can be forged (rule P-6), and disputes cannot be fetched.
func (*Provider) DisputeTypes() string { return disputeTypes }

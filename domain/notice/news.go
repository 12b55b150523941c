package notice

import (
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain/texts"
	"hostpanel/domain/wording"
)

// OrderActive tells a customer that what they ordered is running. The kind is
// that of the plan: hosting, vps, saas.
func OrderActive(kind, number, plan, language string) Text {
	template, known := map[string]string{"hosting": "order_active", "vps": "order_active_vps"}[kind]
	if !known {
		template = "order_active_saas"
	}
	return say(template, language, "number", number, "plan", plan)
}

// InvoiceCreated tells a customer of an invoice.
func InvoiceCreated(number, language string) Text {
	return say("invoice_created", language, "number", number)
}

// RefundDone tells a customer that money has gone back.
func RefundDone(number, language string) Text {
	return say("refund_done", language, "number", number)
}

// MachineReady tells a customer that a virtual server is there.
func MachineReady(number, language string) Text {
	return say("machine_ready", language, "number", number)
}

// MachineFailed tells a customer that a virtual server could not be made.
func MachineFailed(number, language string) Text {
	return say("machine_failed", language, "number", number)
}

// CertificateIssued tells of a certificate that is there, by its domain.
func CertificateIssued(_, domain, language string) Text {
	return say("certificate_issued", language, "name", domain)
}

// CertificateFailed tells of a certificate that could not be had.
func CertificateFailed(_, domain, language string) Text {
	return say("certificate_failed", language, "name", domain)
}

// CertificateExpiring tells of a certificate that ends within so many days, of
// which the last is the first.
func CertificateExpiring(domain string, left int, language string) Text {
	return say("certificate_expiring", language, "name", domain, "days", texts.Count(language, "days", max(left, 1)))
}

// EngineRefused tells that the engine has refused a change of a resource. Noun
// is what one of its kind is called in the language.
func EngineRefused(noun, name, language string) Text {
	return say("engine_refused", language, "kind", noun, "name", name)
}

// Traffic tells how much of its traffic of a month a machine has used. Excess is what happens
// when all of it is used; blank: not all of it is.
func Traffic(name string, limit int64, excess, language string) Text {
	template, known := map[string]string{"": "traffic_near", "slow": "traffic_slowed", "stop": "traffic_stopped"}[excess]
	if !known {
		template = "traffic_used"
	}
	return say(template, language, "name", name, "limit", strconv.FormatInt(limit, 10))
}

// Installed tells that a program was installed in a site.
func Installed(domain, language string) Text { return say("installed", language, "name", domain) }

// TenantSuspended tells that nothing of a tenant runs any more.
func TenantSuspended(language string) Text { return say("tenant_suspended", language) }

// TenantReactivated tells that a tenant runs again.
func TenantReactivated(language string) Text { return say("tenant_reactivated", language) }

// WebhookDisabled tells that an endpoint has answered that it is gone, and is
// told nothing more.
func WebhookDisabled(number, language string) Text {
	return say("webhook_disabled", language, "number", number)
}

// OrderParked tells an operator that an order cannot go on by itself: at which step it
// stopped, and why.
func OrderParked(order uuid.UUID, number, step, code, language string) Text {
	return say("order_parked", language, "number", number, "step", step, "code", wording.Spaced(code)).At(OrderPage(order))
}

// PaymentMismatch tells an operator in what a payment is not as it was ordered.
func PaymentMismatch(order uuid.UUID, number string, differs []string, language string) Text {
	return say("payment_mismatch", language, "number", number, "differs", strings.Join(differs, ", ")).At(OrderPage(order))
}

// PaymentDisputed tells an operator how much of a payment is claimed back.
func PaymentDisputed(order uuid.UUID, number, amount, language string) Text {
	return say("payment_disputed", language, "number", number, "amount", amount).At(OrderPage(order))
}

// TokenReused tells a user that a used token of theirs was used again: one of
// the two may have stolen it.
func TokenReused(language string) Text { return say("token_reused", language) }

// SecondFactorOn tells a user that sign-ins need a code from now on.
func SecondFactorOn(language string) Text { return say("second_factor_on", language).At(FactorPath) }

// SecondFactorOff tells a user that the password suffices again.
func SecondFactorOff(language string) Text { return say("second_factor_off", language).At(FactorPath) }

// CodesRenewed tells a user that there are new recovery codes.
func CodesRenewed(language string) Text { return say("codes_renewed", language).At(FactorPath) }

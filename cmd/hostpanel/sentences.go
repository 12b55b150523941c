package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/sagas"
)

// sentence says in plain words what a fact is.
func sentence(e domain.Event) string {
	if says, ok := sentences[reflect.TypeOf(e)]; ok {
		return says(e)
	}
	_, words, _ := strings.Cut(e.EventName(), ".")
	return strings.ReplaceAll(words, "_", " ")
}

// sentences has one for every fact of the log.
var sentences = collect(slices.Concat(webhookSentences, []said{
	says(func(e order.Placed) string {
		return fmt.Sprintf("%s orders %s, %s, for %s %s: %s%s", or(e.Name, "somebody"), e.Plan.Name, e.BillingPeriod, e.Total.StringFixed(2), e.Currency, e.Number, in(" (", e.Domain, ")"))
	}),
	says(func(e order.SessionOpened) string { return "can be paid until " + minute(e.ExpiresAt) }),
	says(func(e order.SessionFailed) string { return "the payment provider could not be reached: " + e.Code }),
	says(func(e order.Approved) string { return "the customer agreed to pay " + paid(e.Payment) }),
	says(func(e order.AwaitingSettlement) string {
		return "paid; the customer's bank has yet to settle " + paid(e.Payment)
	}),
	says(func(e order.PaymentConfirmed) string { return paid(e.Payment) + " arrived, payment " + e.Payment.ID }),
	says(func(e order.PaymentDeclined) string { return "the payment of " + paid(e.Payment) + " was declined" }),
	says(func(e order.PaymentMismatchFound) string {
		return fmt.Sprintf("%s arrived, but differs in %s: somebody has to look", paid(e.Payment), strings.Join(e.Differs, ", "))
	}),
	says(func(e order.DuplicatePaymentFound) string {
		return "paid a second time: " + paid(e.Payment) + ", payment " + e.Payment.ID
	}),
	says(func(e order.LatePaymentFound) string {
		return paid(e.Payment) + " arrived after the order was cancelled" + in("; to be given back: ", strings.Join(e.Refund, ", "), "")
	}),
	says(func(e order.PaymentAccepted) string { return "payment " + e.Payment + " taken as it is: " + e.Reason }),
	says(func(e order.RefundRequested) string {
		why := map[order.RefundReason]string{
			order.RefundByOperator: e.Note, order.RefundOfDuplicate: "the order was paid more than once",
			order.RefundOfLate: "it came too late", order.RefundOfCancelled: "the order was cancelled",
		}[e.Reason]
		return fmt.Sprintf("refund %d: %s is to go back%s", e.Refund.N, amount(e.Refund.Minor, e.Refund.Currency), in(": ", why, ""))
	}),
	says(func(e order.RefundStarted) string { return returned(e.Refund) + " is on its way back" }),
	says(func(e order.PartiallyRefunded) string { return returned(e.Refund) + " went back" }),
	says(func(e order.RefundCompleted) string {
		return returned(e.Refund) + " went back; nothing is left: refunded"
	}),
	says(func(e order.RefundFailed) string {
		return "a refund of payment " + e.Payment + " failed: " + words(e.Code) + in(", ", e.ID, "")
	}),
	says(func(order.DisputeReported) string {
		return "the provider tells of a dispute: somebody has to confirm it"
	}),
	says(func(e order.DisputeOpened) string {
		return "the customer's bank claims " + amount(e.Dispute.Minor, e.Dispute.Currency) + " back" + in(": ", e.Note, "")
	}),
	says(func(e order.DisputeClosed) string {
		return "the dispute over " + amount(e.Dispute.Minor, e.Dispute.Currency) + " was " + string(e.Dispute.State) + in(": ", e.Note, "")
	}),
	says(func(e order.CancelRequested) string { return "to be cancelled" + in(": ", e.Reason, "") }),
	says(func(order.CompensationStarted) string { return "what was set up is being taken back" }),
	says(func(e order.CompensationParked) string {
		return "taking back stopped at " + e.Step + ": " + words(e.Code)
	}),
	says(func(order.CompensationCompleted) string { return "everything that was set up has been taken back" }),
	says(func(e order.Reopened) string { return "opened again by payment " + e.Payment }),
	says(func(e order.Cancelled) string { return "cancelled: " + words(string(e.Reason)) + in(" (", e.Note, ")") }),
	says(func(e order.NewsIgnored) string {
		return "news ignored: " + words(e.News) + ", for an order that is " + words(string(e.Status))
	}),
	says(func(order.ProvisioningStarted) string { return "setup starts" }),
	says(func(e order.ProvisioningParked) string { return "setup stopped at " + e.Step + ": " + words(e.Code) }),
	says(func(e order.ProvisioningResumed) string {
		return fmt.Sprintf("setup goes on at %s (%s)%s", e.Step, words(string(e.How)), in(": ", e.Reason, ""))
	}),
	says(func(order.Activated) string { return "active" }),
	says(func(order.WelcomeMailDelayed) string { return "the welcome mail is late" }),
	says(func(order.WelcomeMailSent) string { return "the welcome mail has been sent" }),
	says(func(order.WelcomeMailGivenUp) string { return "the welcome mail could not be sent" }),
	says(func(e order.WelcomeMailRequested) string {
		return "the welcome mail is to be sent once more: " + e.Reason
	}),

	says(func(e billing.InvoiceIssued) string {
		return fmt.Sprintf("invoice %s over %s %s, %s", e.Number(), e.Total.StringFixed(2), e.Currency, e.Status)
	}),
	says(func(e billing.CreditNoteIssued) string {
		return fmt.Sprintf("credit note %s over %s %s of invoice %s", e.Number(), e.Total.StringFixed(2), e.Currency, e.Invoice)
	}),
	says(func(e billing.SubscriptionStarted) string {
		return fmt.Sprintf("subscribed to %s, %s, until %s", e.PlanName, e.BillingPeriod, day(e.PeriodEnd))
	}),
	says(func(e billing.SubscriptionEnded) string { return "ended: " + words(e.Reason) }),

	says(func(e account.Opened) string {
		return "account opened" + in(" for ", or(e.Name, e.Email), "") + in(", ", superuser(e.Superuser), "") + in(" (", e.For, ")")
	}),
	says(func(e account.MembershipGranted) string { return fmt.Sprintf("is %s of tenant %d", e.Role, e.Tenant) }),
	says(func(e account.MembershipRevoked) string { return fmt.Sprintf("has left tenant %d", e.Tenant) }),
	says(func(e account.TenantActivated) string {
		if e.Tenant == 0 {
			return "acts for no tenant"
		}
		return fmt.Sprintf("acts for tenant %d", e.Tenant)
	}),
	says(func(account.PasswordChanged) string { return "has a new password" }),
	says(func(account.Deactivated) string { return "account closed" }),
	says(func(account.Reactivated) string { return "account opened again" }),
	says(func(account.ProfileChanged) string { return "profile changed" }),
	says(func(account.SuperuserGranted) string { return "may operate the installation" }),
	says(func(account.SuperuserRevoked) string { return "may no longer operate the installation" }),
	says(func(account.SessionsEnded) string { return "all sessions ended" }),
	says(func(e account.LinkRequested) string {
		return "a link to set a password is made: " + string(e.Link)
	}),
	says(func(e account.AddressRefused) string {
		return "a mail server has refused the address: " + words(e.Code) + "; no notifications are mailed to it"
	}),
	says(func(account.AddressAccepted) string { return "a mail to the address has got through again" }),

	says(func(account.SubjectErased) string { return "personal data erased" }),

	says(func(e account.SignedIn) string {
		return "signed in" + in(" (", e.Through, ")") + in(" from ", e.IP, "")
	}),
	says(func(e account.SignInRefused) string {
		return "could not sign in" + in(" (", e.Through, ")") + in(" from ", e.IP, "")
	}),
	says(func(account.TokenReused) string { return "a refresh token was used again: its family has ended" }),
	says(func(e account.AccessDenied) string { return "denied: " + e.Method + " " + e.Route }),
	says(func(e account.KeyUsedFromNewOrigin) string {
		return "key " + e.Key + " used from a new website, " + e.Origin
	}),

	says(func(e hosting.Requested) string {
		return fmt.Sprintf("%s wanted by tenant %d%s%s", e.Kind, e.Tenant, in(": ", named(e.Values()), ""), in(" (", e.For, ")"))
	}),
	says(func(e hosting.Changed) string { return "to be changed: " + fields(e.Values()) }),
	says(func(e hosting.Confirmed) string {
		return "the engine has it" + in(" as ", or(e.External, id(e.EngineID)), "")
	}),
	says(func(hosting.RemovalRequested) string { return "to be removed" }),
	says(func(e hosting.Halted) string { return "switched off by its " + e.By }),
	says(func(e hosting.Released) string { return "no longer switched off by its " + e.By }),
	says(func(e hosting.Rested) string { return "rests because of its " + e.By }),
	says(func(e hosting.Roused) string { return "no longer rests because of its " + e.By }),
	says(func(hosting.Trashed) string { return "put into the bin" }),
	says(func(hosting.Restored) string { return "brought back from the bin" }),
	says(func(hosting.Removed) string { return "removed" }),
	says(func(e hosting.EngineRefused) string { return "the engine refused: " + words(e.Code) }),
	says(func(hosting.CertificateOrdered) string { return "the certificate was ordered again" }),
	says(func(e hosting.CertificateIssued) string { return "the certificate was issued, until " + day(e.Ends) }),
	says(func(e hosting.CertificateFailed) string { return "the certificate was not issued: " + words(e.Code) }),
	says(func(e hosting.CertificateExpiring) string { return "the certificate expires on " + day(e.Ends) }),
	says(func(e hosting.CertificateExpired) string { return "the certificate expired on " + day(e.Ends) }),

	says(func(e storefront.PlanOffered) string { return "plan offered" + in(": ", named(e.Spec), "") }),
	says(func(e storefront.PlanChanged) string { return "plan changed: " + fields(e.Spec) }),
	says(func(storefront.PlanWithdrawn) string { return "plan withdrawn" }),
	says(func(e storefront.WidgetMade) string {
		return "widget " + e.WidgetID + " made" + in(": ", named(e.Spec), "")
	}),
	says(func(e storefront.WidgetChanged) string { return "widget changed: " + fields(e.Spec) }),
	says(func(storefront.WidgetRemoved) string { return "widget removed" }),
	says(func(e storefront.KeyIssued) string {
		return fmt.Sprintf("%s key %s issued for user %d", e.Mode, e.ID, e.Owner)
	}),
	says(func(e storefront.KeyChanged) string { return "key changed: " + fields(e.Spec) }),
	says(func(storefront.KeyRevoked) string { return "key revoked" }),

	says(func(e notice.Raised) string { return fmt.Sprintf("user %d is told: %s", e.User, e.Title) }),
	says(func(notice.Read) string { return "read" }),
	says(func(notice.MarkedUnread) string { return "marked as unread" }),
	says(func(e notice.MailRequested) string {
		return fmt.Sprintf("user %d is to get a mail: %s", e.User, e.Title)
	}),
	says(func(notice.Mailed) string { return "sent by mail" }),
	says(func(e notice.MailGivenUp) string { return "will not be sent by mail: " + words(e.Code) }),
	says(func(notice.AllRead) string { return "everything so far read" }),
	says(func(notice.Deleted) string { return "deleted" }),
	says(func(e notice.PreferencesSet) string {
		return "preferences changed" + in(" by a ", e.Through, "") + ": " + fields(e.Values)
	}),

	says(func(e operations.IncidentReported) string {
		return "somebody has to look: " + strings.ReplaceAll(e.Kind, "_", " ") + in(" (", pairs(e.About), ")")
	}),
	says(func(e operations.IncidentSettled) string { return "settled" + in(": ", e.Reason, "") }),

	says(func(hosting.PushRequested) string { return "the engine is to be told once more" }),
	says(func(e hosting.Adopted) string { return "taken over from the engine: " + fields(e.Values()) }),
	says(func(hosting.Synced) string { return "compared with the engine" }),
	says(func(e hosting.OperationQueued) string {
		return "asked for: " + words(e.Kind) + in(", ", strings.TrimSpace(words(e.ResourceType)+" "+id(e.ResourceID)), "")
	}),
	says(func(hosting.OperationStarted) string { return "begins" }),
	says(func(e hosting.OperationProgressed) string {
		return "compared with the engine, " + count(len(e.Pushed), "record") + " to be pushed"
	}),
	says(func(hosting.OperationSucceeded) string { return "done" }),
	says(func(e hosting.OperationFailed) string { return "failed: " + words(e.Code) }),

	says(func(e sagas.Started) string {
		return fmt.Sprintf("run %s begins, %s", e.Def, count(len(e.Steps), "step"))
	}),
	says(func(e sagas.StepCompleted) string {
		return "done: " + e.Name + in(", made ", e.External, "") + map[bool]string{true: " (it was there already)"}[e.Found]
	}),
	says(func(e sagas.StepUndone) string { return "taken back: " + e.Name }),
	says(func(e sagas.StepSkipped) string {
		return "skipped: " + e.Name + in(", proof ", e.External, "") + in(" (", e.Reason, ")")
	}),
	says(func(e sagas.Deferred) string { return "put off: " + e.Name + ", " + words(e.Code) }),
	says(func(e sagas.Parked) string { return "stopped at " + e.Name + ": " + words(e.Code) }),
	says(func(e sagas.Resumed) string { return "goes on at " + e.Name + in(" (", e.Reason, ")") }),
	says(func(e sagas.Paused) string { return "paused" + in(" (", e.Reason, ")") }),
	says(func(e sagas.Continued) string { return "goes on" + in(" (", e.Reason, ")") }),
	says(func(e sagas.Released) string { return "taken from whoever worked on it" + in(" (", e.Reason, ")") }),
	says(func(e sagas.RecheckRequested) string {
		return "the payment provider is to be asked again" + in(" (", e.Reason, ")")
	}),
	says(func(e sagas.WebhookReplayed) string {
		return fmt.Sprintf("webhook %d of %s (%s), which was %s, is acted on again%s", e.Webhook, e.Provider, e.Type, e.Before, in(" (", e.Reason, ")"))
	}),
	says(func(e sagas.WebhooksReplayed) string {
		return count(e.Count, "webhook") + " are acted on again" + in(" (", e.Reason, ")")
	}),
	says(func(e sagas.Turned) string { return "to be taken back, from " + e.Name + in(" (", e.Reason, ")") }),
})...)

type said struct {
	about reflect.Type
	says  func(domain.Event) string
}

func says[E domain.Event](say func(E) string) said {
	return said{reflect.TypeFor[E](), func(e domain.Event) string { return say(e.(E)) }}
}

func collect(all ...said) map[reflect.Type]func(domain.Event) string {
	by := map[reflect.Type]func(domain.Event) string{}
	for _, s := range all {
		by[s.about] = s.says
	}
	return by
}

func paid(p order.Seen) string { return amount(p.Minor, p.Currency) }

func returned(r order.SeenRefund) string { return amount(r.Minor, r.Currency) }

// amount is money as people write it: "28.70 EUR".
func amount(minor int64, currency string) string {
	currency = strings.ToUpper(currency)
	places, ok := money.Places(money.Stripe, currency)
	if !ok {
		places = 2
	}
	return decimal.New(minor, -places).StringFixed(places) + " " + currency
}

func superuser(is bool) string {
	if is {
		return "superuser"
	}
	return ""
}

// named is what people call a resource.
func named(v field.Values) string {
	for _, name := range []string{"domain", "name", "username"} {
		var text string
		if err := json.Unmarshal(v[name], &text); err == nil && text != "" {
			return text
		}
	}
	return ""
}

// pairs are names with what they name: "provider stripe, webhook 7".
func pairs(m map[string]string) string {
	all := make([]string, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, name+" "+m[name])
	}
	return strings.Join(all, ", ")
}

func fields(v field.Values) string { return strings.Join(slices.Sorted(maps.Keys(v)), ", ") }

// in puts text between two others, unless there is none.
func in(before, text, after string) string {
	if text == "" {
		return ""
	}
	return before + text + after
}

func id(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func or(text, otherwise string) string { return cmp.Or(text, otherwise) }
func words(code string) string         { return strings.ReplaceAll(code, "_", " ") }
func minute(t time.Time) string        { return t.UTC().Format("2006-01-02 15:04 UTC") }
func day(t time.Time) string           { return t.UTC().Format("2006-01-02") }

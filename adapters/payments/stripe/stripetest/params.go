package stripetest

import (
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// names are the parameters that a call takes. Of the many that the real ones
// take these are the ones that mean something here: another is a mistake.
type names = *regexp.Regexp

func anyOf(of ...string) names { return regexp.MustCompile(`^(?:` + strings.Join(of, "|") + `)$`) }

const (
	expand = `expand\[\d+\]`
	word   = `\[[a-z0-9_]{1,40}\]`
)

var (
	opening = anyOf(expand, "mode", "success_url", "cancel_url", "client_reference_id", "customer_email", "expires_at", "locale",
		"metadata"+word, "customer_creation", "currency", `setup_intent_data\[metadata\]`+word,
		`adaptive_pricing\[enabled\]`, `payment_intent_data\[(?:description|setup_future_usage)\]`, `payment_intent_data\[metadata\]`+word,
		`line_items\[0\]\[quantity\]`, `line_items\[0\]\[price_data\]\[(?:currency|unit_amount|tax_behavior|product_data\]\[name)\]`)
	expanding = anyOf(expand)
	refunding = anyOf(expand, "payment_intent", "amount", "reason", "metadata"+word)
	charging  = anyOf(
		expand, "amount", "currency", "confirm", "customer", "payment_method", `payment_method_types\[0\]`,
		"description", "metadata"+word,
	)
	noting = anyOf(expand, "metadata"+word)

	confirming = anyOf(expand, "off_session", "payment_method")
	cancelling = anyOf(expand, "cancellation_reason")

	listing = anyOf(expand, "payment_intent", "limit", "starting_after")
)

// Names of parameters with brackets.
const (
	quantity = "line_items[0][quantity]"
	price    = "line_items[0][price_data]"
	future   = "payment_intent_data[setup_future_usage]"
)

// threePlaces are currencies of which the last digit has to be 0.
var threePlaces = []string{"bhd", "jod", "kwd", "omr", "tnd"}

var (
	currencies = regexp.MustCompile(`^[a-z]{3}$`)
	locales    = regexp.MustCompile(`^(?:auto|[a-z]{2,3}(?:-(?:[A-Z]{2}|419))?)$`)
)

// checkOpening refuses what Stripe would not make a session of.
func checkOpening(q url.Values, now time.Time) *problem {
	if q.Get("mode") == "setup" {
		return checkSetup(q, now)
	}
	for _, name := range []string{
		"mode", "success_url", quantity, price + "[currency]", price + "[unit_amount]", price + "[product_data][name]",
	} {
		if q.Get(name) == "" {
			return invalid("parameter_missing", name, "Missing required param: "+name+".")
		}
	}
	minor, err := strconv.ParseInt(q.Get(price+"[unit_amount]"), 10, 64)
	expires, late := time.Unix(number(q.Get("expires_at")), 0), now.Add(24*time.Hour)
	for name, wrong := range map[string]bool{
		"mode": q.Get("mode") != "payment", quantity: q.Get(quantity) != "1",
		price + "[unit_amount]": err != nil || minor < 0 || minor > 99_999_999_999 || minor%10 != 0 && slices.Contains(
			threePlaces, q.Get(price+"[currency]"),
		),
		price + "[currency]":           !currencies.MatchString(q.Get(price + "[currency]")),
		price + "[tax_behavior]":       !slices.Contains([]string{"", "inclusive", "exclusive"}, q.Get(price+"[tax_behavior]")),
		"expires_at":                   q.Has("expires_at") && (expires.Before(now.Add(30*time.Minute)) || expires.After(late)),
		"locale":                       q.Has("locale") && !locales.MatchString(q.Get("locale")),
		"client_reference_id":          len(q.Get("client_reference_id")) > 200,
		"adaptive_pricing[enabled]":    !slices.Contains([]string{"", "true", "false"}, q.Get("adaptive_pricing[enabled]")),
		"success_url":                  !isURL(q.Get("success_url")),
		"cancel_url":                   q.Has("cancel_url") && !isURL(q.Get("cancel_url")),
		"customer_creation":            !slices.Contains([]string{"", "always", "if_required"}, q.Get("customer_creation")),
		future:                         !slices.Contains([]string{"", "on_session", "off_session"}, q.Get(future)),
		price + "[product_data][name]": len(q.Get(price+"[product_data][name]")) > 250,
	} {
		if wrong {
			return invalid("", name, "Invalid "+name+".")
		}
	}
	if email := q.Get("customer_email"); q.Has("customer_email") && !isEmail(email) {
		return invalid("email_invalid", "customer_email", "Invalid email address: "+email)
	}
	return checkMetadata(q)
}

func checkMetadata(q url.Values) *problem {
	for name := range q {
		if strings.Contains(name, "metadata[") && len(q.Get(name)) > 500 {
			return invalid("", name, "Metadata values can have up to 500 characters.")
		}
	}
	return nil
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

func isEmail(text string) bool {
	a, err := mail.ParseAddress(text)
	return err == nil && a.Address == text
}

// metadata are the values of prefix[…].
func metadata(q url.Values, prefix string) map[string]string {
	all := map[string]string{}
	for name := range q {
		if key, ok := strings.CutPrefix(name, prefix+"["); ok {
			all[strings.TrimSuffix(key, "]")] = q.Get(name)
		}
	}
	return all
}

// expanded tells whether a field is asked for whole, itself or something in it.
func expanded(q url.Values, field string) bool {
	for name := range q {
		if asked := q.Get(name); strings.HasPrefix(name, "expand[") && (asked == field || strings.HasPrefix(asked, field+".")) {
			return true
		}
	}
	return false
}

// number is a whole number; what is none is 0.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }

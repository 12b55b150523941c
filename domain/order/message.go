package order

import "strings"

// A Standing is all that a customer's message about an order depends on.
type Standing struct {
	Status          Status
	Settling        bool // the customer is done, the bank is not
	OnHold          bool
	CancelRequested bool
	Step            string // of provisioning, such as "tenant.engine"; empty: the first
}

// Standing is how the order stands. Its step is known only while it is parked;
// until then the run knows it.
func (o Order) Standing() Standing {
	return Standing{
		Status: o.Status, Settling: o.Settling, OnHold: o.OnHold(),
		CancelRequested: o.CancelRequested, Step: o.Step,
	}
}

// Message tells the customer how the order stands, in Spanish ("es", "es-MX")
// or else in English. It names a step in plain words and never quotes a
// server's answer (docs/orders.md, "What the customer reads").
func Message(s Standing, language string) string {
	speech := english
	if language == "es" || strings.HasPrefix(language, "es-") {
		speech = spanish
	}
	return strings.ReplaceAll(speech.messages[s.subject()], "{step}", speech.step(s.Step))
}

// A subject is what a message is about.
type subject string

const (
	settling   subject = "settling"
	checking   subject = "checking"
	cancelling subject = "cancelling"
)

// subject picks what matters most: what is undone before what is checked, and
// that before the status.
func (s Standing) subject() subject {
	final := s.Status == StatusRefunded
	switch {
	case s.CancelRequested && !final && s.Status != StatusCancelled:
		return cancelling
	case s.OnHold && !final:
		return checking
	case s.Settling && s.Status == StatusPaymentProcessing:
		return settling
	}
	return subject(s.Status)
}

// A language's words for every subject and every step.
type words struct {
	messages map[subject]string
	steps    map[string]string
	further  string // a step that has no words of its own
}

func (w words) step(name string) string {
	if name == "" {
		name = "account"
	}
	if text, known := w.steps[name]; known {
		return text
	}
	return w.further
}

var english = words{
	messages: map[subject]string{
		subject(StatusPending):           "Waiting for the payment provider.",
		subject(StatusPaymentProcessing): "Waiting for payment.",
		settling:                         "Waiting for your bank.",
		checking:                         "Your payment is being checked by our team.",
		cancelling:                       "The order is being cancelled.",
		subject(StatusPaid):              "Payment received. Setup starts shortly.",
		subject(StatusProvisioning):      "Your order is being set up: {step}.",
		subject(StatusActive):            "Your order is active.",
		subject(StatusFailed):            "Setup was interrupted at: {step}. Our team has been informed; you do not need to pay again.",
		subject(StatusCancelled):         "The order was cancelled.",
		subject(StatusRefunded):          "The payment was refunded.",
	},
	steps: map[string]string{
		"account":       "your user account",
		"tenant":        "your customer space",
		"tenant.engine": "your space on the server",
		"tenant.ready":  "activation on the server",
		"site":          "your website",
		"site.ready":    "activation of your website",
		"vm":            "your virtual server",
		"vm.ready":      "first start of your virtual server",
		"billing":       "your invoice",
		"welcome":       "your welcome email",
		"activate":      "final checks",
	},
	further: "further steps",
}

var spanish = words{
	messages: map[subject]string{
		subject(StatusPending):           "Esperando al proveedor de pago.",
		subject(StatusPaymentProcessing): "Esperando el pago.",
		settling:                         "Esperando la confirmación de su banco.",
		checking:                         "Nuestro equipo está revisando su pago.",
		cancelling:                       "El pedido se está cancelando.",
		subject(StatusPaid):              "Pago recibido. La puesta en marcha comenzará en breve.",
		subject(StatusProvisioning):      "Estamos preparando su pedido: {step}.",
		subject(StatusActive):            "Su pedido está activo.",
		subject(StatusFailed):            "La puesta en marcha se interrumpió en este paso: {step}. Nuestro equipo ya está avisado; no tiene que volver a pagar.",
		subject(StatusCancelled):         "El pedido se canceló.",
		subject(StatusRefunded):          "El pago se ha reembolsado.",
	},
	steps: map[string]string{
		"account":       "su cuenta de usuario",
		"tenant":        "su espacio de cliente",
		"tenant.engine": "su espacio en el servidor",
		"tenant.ready":  "activación en el servidor",
		"site":          "su sitio web",
		"site.ready":    "activación de su sitio web",
		"vm":            "su servidor virtual",
		"vm.ready":      "primer arranque de su servidor virtual",
		"billing":       "su factura",
		"welcome":       "su correo de bienvenida",
		"activate":      "comprobaciones finales",
	},
	further: "otros pasos",
}

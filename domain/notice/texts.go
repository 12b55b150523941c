package notice

import "strings"

// OrderActive tells a customer that what they ordered is running. The kind is
// that of the plan: hosting, vps, saas. Texts are in Spanish ("es", "es-MX")
// or else in English.
func OrderActive(kind, number, plan, language string) Text {
	message, known := orderActive[kind]
	if !known {
		message = orderActive["saas"]
	}
	return inLanguage(message, language).about(Success, "{number}", number, "{plan}", plan)
}

// OrderParked tells an operator that an order cannot go on by itself.
func OrderParked(number, language string) Text {
	return inLanguage(orderParked, language).about(Error, "{number}", number)
}

// PaymentMismatch tells an operator that a payment is not as it was ordered.
func PaymentMismatch(number, language string) Text {
	return inLanguage(paymentMismatch, language).about(Warning, "{number}", number)
}

// TokenReused tells a user that somebody has used a token of theirs that had
// been used before: one of the two may have stolen it.
func TokenReused(language string) Text { return inLanguage(tokenReused, language).about(Warning) }

// inLanguage picks the texts for "es", "es-MX", "en" …; English serves all others.
func inLanguage[T any](texts map[string]T, language string) T {
	short, _, _ := strings.Cut(language, "-")
	if t, ok := texts[short]; ok {
		return t
	}
	return texts["en"]
}

// A phrase is a notification in one language.
type phrase struct{ title, message string }

func (p phrase) about(kind Type, values ...string) Text {
	return Text{Type: kind, Title: p.title, Message: strings.NewReplacer(values...).Replace(p.message), URL: "/"}
}

var orderActive = map[string]map[string]phrase{
	"hosting": {
		"en": {"Your order is active", "Your hosting plan {plan} is ready to use (order {number})."},
		"es": {"Su pedido está activo", "Su plan de alojamiento {plan} ya está listo para usar (pedido {number})."},
	},
	"vps": {
		"en": {"Your order is active", "Your virtual server {plan} is running (order {number})."},
		"es": {"Su pedido está activo", "Su servidor virtual {plan} ya está en marcha (pedido {number})."},
	},
	"saas": {
		"en": {"Your order is active", "Your plan {plan} is ready to use (order {number})."},
		"es": {"Su pedido está activo", "Su plan {plan} ya está listo para usar (pedido {number})."},
	},
}

var orderParked = map[string]phrase{
	"en": {"An order needs attention", "Setting up order {number} was interrupted."},
	"es": {"Un pedido necesita atención", "La puesta en marcha del pedido {number} se ha interrumpido."},
}

var paymentMismatch = map[string]phrase{
	"en": {"A payment needs checking", "A payment for order {number} is not as ordered."},
	"es": {"Hay que revisar un pago", "Un pago del pedido {number} no coincide con lo pedido."},
}

var tokenReused = map[string]phrase{
	"en": {
		"You have been signed out", "A refresh token of yours was used a second time, so the sign-in that it belongs to has been ended. " +
			"If it was not a program of yours, change your password.",
	},
	"es": {
		"Se ha cerrado una sesión", "Se ha usado por segunda vez un token de renovación suyo, por lo que se ha cerrado la sesión a la que pertenece. " +
			"Si no ha sido un programa suyo, cambie su contraseña.",
	},
}

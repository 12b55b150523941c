package notice

import "strings"

// OrderActive tells a customer that what they ordered is running. The kind is
// that of the plan: hosting, vps, saas. The language is Spanish ("es",
// "es-MX") or else English.
func OrderActive(kind, number, plan, language string) Text {
	speech := orderActive["en"]
	if isSpanish(language) {
		speech = orderActive["es"]
	}
	fill := strings.NewReplacer("{number}", number, "{plan}", plan)
	return Text{Type: Success, Title: speech.title, Message: fill.Replace(speech.message(kind)), URL: "/"}
}

func isSpanish(language string) bool { return language == "es" || strings.HasPrefix(language, "es-") }

type orderActiveTexts struct{ title, hosting, vps, saas string }

func (t orderActiveTexts) message(kind string) string {
	switch kind {
	case "hosting":
		return t.hosting
	case "vps":
		return t.vps
	}
	return t.saas
}

var orderActive = map[string]orderActiveTexts{
	"en": {
		title:   "Your order is active",
		hosting: "Your hosting plan {plan} is ready to use (order {number}).",
		vps:     "Your virtual server {plan} is running (order {number}).",
		saas:    "Your plan {plan} is ready to use (order {number}).",
	},
	"es": {
		title:   "Su pedido está activo",
		hosting: "Su plan de alojamiento {plan} ya está listo para usar (pedido {number}).",
		vps:     "Su servidor virtual {plan} ya está en marcha (pedido {number}).",
		saas:    "Su plan {plan} ya está listo para usar (pedido {number}).",
	},
}

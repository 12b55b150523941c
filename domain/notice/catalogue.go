package notice

// catalogue is everything that users are told, by the name of its template.
// What stands in braces is filled in; templates.go has a sample of each.
var catalogue = merged(toCustomers, toTenants, operators)

// operators is what every superuser is told.
var operators = merged(toOperators, toWatchers)

// toCustomers is what those are told who have ordered something, or whose
// account it is.
var toCustomers = map[string]entry{
	"order_active": {Success, map[string]phrase{
		"en": {"Your order is active", "Your hosting plan {plan} is ready to use (order {number})."},
		"es": {"Su pedido está activo", "Su plan de alojamiento {plan} ya está listo para usar (pedido {number})."},
	}},
	"order_active_vps": {Success, map[string]phrase{
		"en": {"Your order is active", "Your virtual server {plan} is running (order {number})."},
		"es": {"Su pedido está activo", "Su servidor virtual {plan} ya está en marcha (pedido {number})."},
	}},
	"order_active_saas": {Success, map[string]phrase{
		"en": {"Your order is active", "Your plan {plan} is ready to use (order {number})."},
		"es": {"Su pedido está activo", "Su plan {plan} ya está listo para usar (pedido {number})."},
	}},
	"invoice_created": {Billing, map[string]phrase{
		"en": {"A new invoice", "There is an invoice for your order {number}."},
		"es": {"Nueva factura", "Ya hay una factura de su pedido {number}."},
	}},
	"refund_done": {Billing, map[string]phrase{
		"en": {"Money refunded", "Money for your order {number} has been refunded."},
		"es": {"Reembolso realizado", "Se ha reembolsado dinero de su pedido {number}."},
	}},
	"machine_ready": {VPS, map[string]phrase{
		"en": {"Your virtual server is ready", "The virtual server of order {number} has been set up."},
		"es": {"Su servidor virtual está listo", "El servidor virtual del pedido {number} ya está instalado."},
	}},
	"machine_failed": {VPS, map[string]phrase{
		"en": {"Your virtual server is delayed", "The virtual server of order {number} could not be set up. We are looking into it."},
		"es": {"Su servidor virtual se retrasa", "No se ha podido instalar el servidor virtual del pedido {number}. Lo estamos revisando."},
	}},
	"token_reused": {Warning, map[string]phrase{
		"en": {
			"You have been signed out", "A refresh token of yours was used a second time, so the sign-in that it belongs to has been ended. " +
				"If it was not a program of yours, change your password.",
		},
		"es": {
			"Se ha cerrado una sesión", "Se ha usado por segunda vez un token de renovación suyo, por lo que se ha cerrado la sesión a la que pertenece. " +
				"Si no ha sido un programa suyo, cambie su contraseña.",
		},
	}},
}

// toTenants is what the administrators of a tenant are told.
var toTenants = map[string]entry{
	"certificate_issued": {Hosting, map[string]phrase{
		"en": {"Certificate issued", "There is a new certificate for {name}."},
		"es": {"Certificado emitido", "Ya hay un certificado nuevo para {name}."},
	}},
	"certificate_failed": {Hosting, map[string]phrase{
		"en": {"Certificate failed", "The certificate for {name} could not be issued."},
		"es": {"Certificado no emitido", "No se ha podido emitir el certificado para {name}."},
	}},
	"certificate_expiring": {Hosting, map[string]phrase{
		"en": {"A certificate is about to expire", "The certificate for {name} expires in {days}."},
		"es": {"Un certificado está a punto de caducar", "El certificado para {name} caduca en {days}."},
	}},
	"engine_refused": {Hosting, map[string]phrase{
		"en": {"A change was refused", "The hosting engine has refused a change: {kind} {name}."},
		"es": {"Se ha rechazado un cambio", "El servidor de alojamiento ha rechazado un cambio: {kind} {name}."},
	}},
	"installed": {Hosting, map[string]phrase{
		"en": {"Installation finished", "A program has been installed in {name}."},
		"es": {"Instalación terminada", "Se ha instalado un programa en {name}."},
	}},
	"webhook_disabled": {Warning, map[string]phrase{
		"en": {"A webhook was switched off", "The webhook endpoint {number} has answered that it is gone (410). It is told nothing more until a user switches it on again."},
		"es": {"Se ha desactivado un webhook", "El webhook {number} ha respondido que ya no existe (410). No recibirá nada más hasta que alguien vuelva a activarlo."},
	}},
	"tenant_suspended": {System, map[string]phrase{
		"en": {"Your account is suspended", "Your services have been suspended."},
		"es": {"Su cuenta está suspendida", "Sus servicios se han suspendido."},
	}},
	"tenant_reactivated": {System, map[string]phrase{
		"en": {"Your account is active again", "Your services have been reactivated."},
		"es": {"Su cuenta vuelve a estar activa", "Sus servicios se han reactivado."},
	}},
}

// toOperators is what every superuser is told of orders.
var toOperators = map[string]entry{
	"order_parked": {Error, map[string]phrase{
		"en": {"An order needs attention", "Setting up order {number} was interrupted at {step}: {code}. `hostpanel orders show {number}` names the command that lets it go on."},
		"es": {"Un pedido necesita atención", "La puesta en marcha del pedido {number} se ha interrumpido en {step}: {code}. `hostpanel orders show {number}` indica la orden con la que continúa."},
	}},
	"payment_mismatch": {Warning, map[string]phrase{
		"en": {"A payment needs checking", "A payment for order {number} is not as ordered: it differs in {differs}. `hostpanel orders show {number}` names the commands that accept it or give it back."},
		"es": {"Hay que revisar un pago", "Un pago del pedido {number} no coincide con lo pedido: difiere en {differs}. `hostpanel orders show {number}` indica las órdenes para aceptarlo o devolverlo."},
	}},
	"payment_disputed": {Warning, map[string]phrase{
		"en": {"A payment is disputed", "The customer's bank claims back {amount} of order {number}. Answer it at the provider."},
		"es": {"Se ha disputado un pago", "El banco del cliente reclama {amount} del pedido {number}. Responda ante el proveedor."},
	}},
}

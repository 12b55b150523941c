package notice

// words are what all letters in one language share.
type words struct {
	Language           string
	Hello, Before, Bye string // Before stands between the greeting and a name
	Panel, User        string
	Validity           string // of a link that works once

	Open      string            // what the button of news says
	Why, Stop string            // why one gets them, and how to get no more
	Sorts     map[string]string // what they are about, by preference
}

var letterWords = map[string]words{
	"en": {
		Language: "en", Hello: "Hello", Panel: "Control panel", User: "User name", Bye: "Kind regards",
		Validity: "The link can be used once and is valid for 72 hours. Afterwards you can ask for a new one on the sign-in page.",

		Open: "Open in the panel", Why: "You get this message because you want mails about {sort}.", Stop: "I want no more of them",
		Sorts: map[string]string{
			"email_on_ticket_reply": "your tickets", "email_on_invoice": "invoices and payments", "email_on_hosting_alert": "your hosting",
			"email_on_vps_alert": "your virtual servers", "email_on_system": "the panel, your account and your orders",
		},
	},
	"es": {
		Language: "es", Hello: "Hola", Before: ",", Panel: "Panel de control", User: "Nombre de usuario", Bye: "Un saludo",
		Validity: "El enlace solo puede usarse una vez y es válido durante 72 horas. Después podrá pedir uno nuevo en la página de inicio de sesión.",

		Open: "Abrir en el panel", Why: "Recibe este mensaje porque desea correos sobre {sort}.", Stop: "No quiero recibir más",
		Sorts: map[string]string{
			"email_on_ticket_reply": "sus consultas", "email_on_invoice": "facturas y pagos", "email_on_hosting_alert": "su alojamiento",
			"email_on_vps_alert": "sus servidores virtuales", "email_on_system": "el panel, su cuenta y sus pedidos",
		},
	},
}

// A letterText is what one letter says in one language.
type letterText struct {
	subject, news string
	call          string // what the link is for
	once          bool   // the link works once
	ignore        string // for whom the letter was not meant
}

var letters = map[string]map[Occasion]letterText{
	"en": {
		FirstOrder: {
			subject: "Your order {number} is ready", news: "Everything has been set up for your order: {plan} ({number}).",
			call: "Choose your password", once: true, ignore: "If you did not order anything, you can ignore this message.",
		},
		NextOrder: {
			subject: "Your order {number} is ready", news: "Everything has been set up for your order: {plan} ({number}).",
			call: "Sign in with your present password", ignore: "If you did not order anything, you can ignore this message.",
		},
		Invitation: {
			subject: "Your account is ready", news: "An account has been opened for you.",
			call: "Choose your password", once: true, ignore: "If you do not expect this, you can ignore this message.",
		},
		Reset: {
			subject: "Choose a new password", news: "Somebody, probably you, has asked for a new password for your account.",
			call: "Choose a new password", once: true,
			ignore: "If it was not you, you can ignore this message: your password stays as it is.",
		},
		ApprovalLost: {
			subject: "Your order {number} was not paid",
			news:    "You agreed to pay for your order {plan} ({number}), but the payment could not be collected. The order has been cancelled and nothing is owed. You are welcome to order again.",
			ignore:  "If you did not order anything, you can ignore this message.",
		},
	},
	"es": {
		FirstOrder: {
			subject: "Su pedido {number} está listo", news: "Ya está todo preparado para su pedido: {plan} ({number}).",
			call: "Elija su contraseña", once: true, ignore: "Si usted no ha hecho ningún pedido, puede ignorar este mensaje.",
		},
		NextOrder: {
			subject: "Su pedido {number} está listo", news: "Ya está todo preparado para su pedido: {plan} ({number}).",
			call: "Inicie sesión con su contraseña actual", ignore: "Si usted no ha hecho ningún pedido, puede ignorar este mensaje.",
		},
		Invitation: {
			subject: "Su cuenta está lista", news: "Se ha abierto una cuenta para usted.",
			call: "Elija su contraseña", once: true, ignore: "Si no lo esperaba, puede ignorar este mensaje.",
		},
		Reset: {
			subject: "Elija una contraseña nueva", news: "Alguien, probablemente usted, ha pedido una contraseña nueva para su cuenta.",
			call: "Elija una contraseña nueva", once: true,
			ignore: "Si no ha sido usted, puede ignorar este mensaje: su contraseña no cambia.",
		},
		ApprovalLost: {
			subject: "Su pedido {number} no se ha pagado",
			news:    "Usted aceptó pagar su pedido {plan} ({number}), pero no se ha podido cobrar. El pedido se ha cancelado y no debe nada. Puede volver a pedirlo cuando quiera.",
			ignore:  "Si usted no ha hecho ningún pedido, puede ignorar este mensaje.",
		},
	},
}

package web

// hostingInSpanish are messages of the hosting API; # stands for a number or a quoted
// text.
var hostingInSpanish = map[string]string{
	"The server does not know this record any more.":       "El servidor ya no conoce este registro.",
	"The server refuses these values.":                     "El servidor rechaza estos valores.",
	"The server has another one with this name.":           "El servidor ya tiene otro con este nombre.",
	"The server cannot do this.":                           "El servidor no puede hacer esto.",
	"The tenant has no account at the server yet.":         "La organización todavía no tiene cuenta en el servidor.",
	"What this is a part of does not exist at the server.": "Aquello de lo que forma parte no existe en el servidor.",
	"Mail to this address would come back to it. Please change where it goes.": "El correo a esta dirección volvería a ella. " +
		"Cambie adónde va.",
	"Mail to # comes back to this alias.":            "El correo a # vuelve a este alias.",
	"The destination contains the alias itself.":     "El destino contiene el propio alias.",
	"Mail cannot be forwarded to the server itself.": "El correo no se puede reenviar al propio servidor.",
	"Only this catch-all takes #: there is no mailbox or alias of that name.": "Solo este catch-all recibe #: no hay buzón " +
		"ni alias con ese nombre.",
	"A CNAME cannot point to itself.":                "Un CNAME no puede apuntar a sí mismo.",
	"A null MX (.) stands alone at its name.":        "Un MX nulo (.) está solo en su nombre.",
	"This name has a sender policy (SPF) already.":   "Este nombre ya tiene una política de remitente (SPF).",
	"Enter a mailto: or https: address for reports.": "Escriba una dirección mailto: o https: para los avisos.",
	"Enter the domain of a certificate authority, such as letsencrypt.org, or ; for none.": "Escriba el dominio de una autoridad de " +
		"certificación, como letsencrypt.org, o ; para ninguna.",
	"The server wants a stronger password.": "El servidor exige una contraseña más fuerte.",
	"The hosting server wants a password that is longer, or has capitals, digits and symbols too.": "El servidor de alojamiento " +
		"exige una contraseña más larga, o con mayúsculas, cifras y símbolos.",
	"This name belongs to the server itself. Please contact support.": "Este nombre es del propio servidor. Contacte con el soporte.",
	"This username belongs to the server itself. Please contact support.": "Este nombre de usuario es del propio servidor. " +
		"Contacte con el soporte.",
	"The password is no longer at hand. Please set it again.": "La contraseña ya no " +
		"está disponible. Vuelva a escribirla.",
	"The server has one with this name that belongs to another customer.": "El servidor tiene uno " +
		"con este nombre que es de otro cliente.",
	"The server has no room for this.": "El servidor no tiene sitio para esto.",
	"The server has accepted this and could not carry it out. The next change tries " +
		"again.": "El servidor lo aceptó y no pudo llevarlo a cabo. El próximo cambio lo vuelve a intentar.",
	"The server has accepted this and does not show it. The next change tries " +
		"again.": "El servidor lo aceptó y no lo muestra. El próximo cambio lo vuelve a intentar.",
	"The certificate was not issued. Do all its names lead to the site?": "El certificado no se ha " +
		"emitido. ¿Llevan todos sus nombres al sitio?",
	"The certificate authority has issued too many certificates for this domain " +
		"lately.": "La autoridad ha emitido últimamente demasiados certificados para este dominio.",
	"The site is not active.": "El sitio no está activo.",
	"The server refused the change. Please contact support.": "El servidor ha rechazado el cambio. " +
		"Póngase en contacto con su proveedor.",
	"Enter a valid domain name.":          "Escriba un dominio válido.",
	"Enter a valid URL.":                  "Escriba una dirección válida.",
	"Enter a valid host name.":            "Escriba un nombre de servidor válido.",
	"Enter a valid IPv4 or IPv6 address.": "Escriba una dirección IPv4 o IPv6 válida.",
	"The zone needs an address of the site, and this panel does not know which ones # stands for.": "La zona necesita " +
		"una dirección del sitio, y este panel no sabe cuáles representa #.",
	"Enter a valid IPv4 or IPv6 address, or #.":             "Escriba una dirección IPv4 o IPv6 válida, o #.",
	"Enter a valid color in the form #RRGGBB.":              "Escriba un color con la forma #RRGGBB.",
	"Enter a valid schedule.":                               "Escriba un horario válido.",
	"Enter an https URL of one of the tenant's sites.":      "Escriba una dirección https de uno de sus sitios.",
	"The domain does not belong to the site.":               "El dominio no pertenece al sitio.",
	"This domain is a public suffix.":                       "Este dominio es un sufijo público.",
	"This domain is the panel's own, or above or below it.": "Este dominio es del propio panel, o está por encima o por debajo.",
	"This domain, or one above or below it, belongs to another tenant.": "Este dominio, o uno por encima o por " +
		"debajo, es de otra organización.",
	"This domain cannot be used.":                    "Este dominio no se puede usar.",
	"site with this domain already exists.":          "Ya existe un sitio con este dominio.",
	"mail domain with this domain already exists.":   "Ya existe un dominio de correo con este dominio.",
	"dns zone with this origin already exists.":      "Ya existe una zona DNS con este nombre.",
	"ftp account with this username already exists.": "Ya existe una cuenta FTP con este nombre.",
	"shell user with this username already exists.":  "Ya existe un usuario de shell con este nombre.",
	"An alias with this address already exists.":     "Ya existe un alias con esta dirección.",
	"A mailbox with this address already exists.":    "Ya existe un buzón con esta dirección.",
	"The mail domain still has mailboxes.":           "El dominio de correo todavía tiene buzones.",
	"An operator has suspended this tenant.":         "Un operador ha suspendido esta organización.",
	"Limit reached: hosting_accounts (# of #).":      "Ha alcanzado el límite de suborganizaciones (# de #).",
	"tenant with this slug already exists.":          "Ya existe una organización con este nombre corto.",
	"The tenant is suspended.":                       "La organización está suspendida.",
	"This list may not be empty.":                    "Escriba al menos uno.",
	"Must be a valid boolean.":                       "Elija sí o no.",
}

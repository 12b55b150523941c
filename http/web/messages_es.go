package web

// messagesInSpanish are messages of the API; # stands for a number or a quoted
// text.
var messagesInSpanish = map[string]string{
	"The invoice is not open.":    "La factura no está pendiente.",
	"The subscription has ended.": "La suscripción ha terminado.",
	"The subscription is cancelled. Take the cancellation back first.": "La suscripción está " +
		"cancelada. Retire antes la cancelación.",
	"The next period is billed already. Pay its invoice first.": "El próximo periodo ya está " +
		"facturado. Pague antes su factura.",
	"The next period is about to be billed. Try again in a minute.": "El próximo periodo se va a " +
		"facturar ahora. Inténtelo dentro de un minuto.",
	"There is no such plan on offer.":                           "No se ofrece ese plan.",
	"The plan is for another sort of service.":                  "El plan es para otra clase de servicio.",
	"The plan has another currency.":                            "El plan tiene otra moneda.",
	"The disk of a virtual server cannot shrink: it has # GB.":  "El disco de un servidor virtual no puede encoger: tiene # GB.",
	"The node of the virtual server has no room for this size.": "En el nodo del servidor virtual no hay sitio para ese tamaño.",
	"This plan is sold out.":                                    "Este plan está agotado.",
	"The payment provider is temporarily unavailable.":          "El proveedor de pagos no responde en este momento.",
	"This field is required.":                                   "Este campo es obligatorio.",
	"This field may not be null.":                               "Este campo es obligatorio.",
	"This field may not be blank.":                              "Este campo no puede quedar vacío.",
	"This field cannot be changed.":                             "Este campo no se puede cambiar.",
	"This is not a complete key.":                               "Esta clave no está completa.",
	"Not a valid string.":                                       "No es un texto válido.",
	"Null characters are not allowed.":                          "No se permiten caracteres nulos.",
	"Line breaks are not allowed.":                              "No se permiten saltos de línea.",
	"Ensure this field has no more than # characters.":          "No puede tener más de # caracteres.",
	"Ensure this field has at least # characters.":              "Debe tener al menos # caracteres.",
	"Ensure this field has no more than # elements.":            "No puede tener más de # elementos.",
	"Ensure this value is less than or equal to #.":             "Debe ser menor o igual que #.",
	"Ensure this value is greater than or equal to #.":          "Debe ser mayor o igual que #.",
	"A valid integer is required.":                              "Escriba un número entero.",
	"String value too large.":                                   "Es demasiado largo.",
	"Enter a valid email address.":                              "Escriba una dirección de correo válida.",
	"Enter a valid text.":                                       "Tiene caracteres que no se permiten.",
	"Enter a valid domain or origin.":                           "Escriba un dominio u origen válido.",
	"This value does not match the required pattern.":           "No tiene la forma necesaria.",
	"Datetime has wrong format. Use one of these formats instead: " +
		"YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].": "La fecha y la hora no tienen la forma necesaria: AAAA-MM-DDThh:mm.",
	"# is not a valid choice.":              "# no es una opción válida.",
	"Invalid pk # - object does not exist.": "# no existe.",
	"This password is too short. It must contain at least # characters.": "La contraseña es demasiado " +
		"corta. Debe tener al menos # caracteres.",
	"This password is too common.":                         "La contraseña es demasiado corriente.",
	"Ensure this password has no more than # bytes.":       "La contraseña no puede tener más de # bytes.",
	"There is no password to show.":                        "No hay ninguna contraseña que mostrar.",
	"Type the name of the machine.":                        "Escriba el nombre del servidor.",
	"The machine does not stand so that this can be done.": "El servidor no está de forma que se pueda hacer esto.",
	"The snapshot is not taken yet.":                       "La instantánea aún no está tomada.",
	"This password is entirely numeric.":                   "La contraseña solo tiene cifras.",
	"The password is too similar to the username.":         "La contraseña se parece demasiado al usuario.",
	"The two passwords are not the same.":                  "Las dos contraseñas no son iguales.",
	"This is a view of the past: nothing can be changed here.": "Esta es una vista del pasado: " +
		"aquí no se puede cambiar nada.",
	"This is a view of the past: it is for superusers only.": "Esta es una vista del pasado: es solo para superusuarios.",
	"The code is wrong.":                     "El código no es correcto.",
	"The code is wrong, or was used before.": "El código no es correcto o ya se ha usado.",
	"There were too many wrong codes. Use a recovery code.": "Ha habido demasiados códigos " +
		"incorrectos. Use un código de recuperación.",
	"The second factor is on already.": "El segundo factor ya está activado.",
	"The second factor is not on.":     "El segundo factor no está activado.",
	"No second factor is being set up, or it took more than an hour. Begin again.": "No se está configurando ningún " +
		"segundo factor, o ha pasado más de una hora. Empiece de nuevo.",
	"The current password is wrong.": "La contraseña actual no es correcta.",
	"You had been signed out. What you typed is here again, but for passwords: " +
		"please check it and send it.": "Su sesión había terminado. Aquí está otra vez lo que escribió, " +
		"salvo las contraseñas: revíselo y envíelo.",
	"This account signs in with its password only.":      "Esta cuenta solo entra con su contraseña.",
	"No active account found with the given credentials": "El nombre de usuario o la contraseña no son correctos.",
	"Request was throttled. Expected available in # second.": "Demasiados intentos. Podrá volver a " +
		"intentarlo dentro de # segundo.",
	"Request was throttled. Expected available in # seconds.": "Demasiados intentos. Podrá volver a " +
		"intentarlo dentro de # segundos.",
	"Conflict, please retry.": "Alguien ha cambiado lo mismo a la vez. Inténtelo de nuevo.",
	"This form was out of date. Please check it and send it again.": "El formulario estaba anticuado. Revíselo y vuelva a enviarlo.",
	"This form was sent by another site.":                           "El formulario se ha enviado desde otro sitio.",
	"You do not have permission to perform this action.":            "No tiene permiso para hacer esto.",
	"A server error occurred.":                                      "Ha ocurrido un error en el servidor.",
	"The service is temporarily unavailable.":                       "El servicio no está disponible ahora.",
	"Request body too large.":                                       "El formulario es demasiado grande.",
	"Method # not allowed.":                                         "El método # no está permitido.",
	"Send the form of the page.":                                    "Envíe el formulario de la página.",
	"No other operator gets mails about alarms. Confirm that they end.": "Ningún otro operador recibe los correos de " +
		"alarma. Confirme que dejen de enviarse.",
	"This form has been carried out, with something else in it. Open its page again, and send it " +
		"from there.": "Este formulario ya se ha tramitado, con otro contenido. Abra de nuevo su " +
		"página y envíelo desde allí.",
	"Not found.": "No se ha encontrado.",
	changedMeanwhile: "Esto ha cambiado entretanto, así que no se ha guardado nada. Junto a los campos está " +
		"lo que hay ahora. Guarde de nuevo para sustituirlo.",
	"There is no such order.": "No existe ese pedido.",
	"Only a webhook that fits no order can be matched.": "Solo se puede asignar un " +
		"webhook que no corresponde a ningún pedido.",
	"The webhook cannot be about this order: it is of another payment provider.": "El webhook no puede ser " +
		"de este pedido: es de otro proveedor de pagos.",
	"The webhook cannot be about this order: it names no payment that could be " +
		"compared.": "El webhook no puede ser de este pedido: no nombra ningún pago que se pueda comparar.",
	"The webhook cannot be about this order: its session is that of another order.": "El webhook no puede ser " +
		"de este pedido: su sesión es de otro pedido.",
	"The webhook cannot be about this order: one of them is a test and the other is " +
		"not.": "El webhook no puede ser de este pedido: uno es de prueba y el otro no.",
	"The webhook cannot be about this order: its currency differs.": "El webhook no puede ser de " +
		"este pedido: la moneda es otra.",
	"The webhook cannot be about this order: its amount differs.": "El webhook no puede ser de " +
		"este pedido: el importe es otro.",
	"The webhook cannot be about this order: the provider does not know its " +
		"session.": "El webhook no puede ser de este pedido: el proveedor no conoce su sesión.",
	"The record and the engine do not differ any more.":     "El registro y el motor ya no difieren.",
	"The record and the hypervisor do not differ any more.": "El registro y el hipervisor ya no difieren.",
	"The hypervisor # has the machine. Move it back.":       "El hipervisor # tiene la máquina. Muévala de vuelta.",
	"The hypervisor cannot go back to what the record has. Let the record be as the hypervisor " +
		"has it.": "El hipervisor no puede volver a lo que tiene el registro. Deje el registro como lo tiene el hipervisor.",
	"The panel cannot take over what the hypervisor has: the machine may not run.": "El panel no puede " +
		"adoptar lo que tiene el hipervisor: la máquina no puede funcionar.",
}

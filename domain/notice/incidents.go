package notice

import "github.com/google/uuid"

// Incident tells an operator of a problem that needs one: its kind, such as
// "webhook_parked", and what it is about, by ids. It leads to the incident's page.
func Incident(id uuid.UUID, kind string, about map[string]string, language string) Text {
	var values []string
	for _, name := range []string{"webhook", "provider", "event", "position", "projection", "reader", "queue", "code", "lacks", "tenant", "kind", "id", "engine_id", "fields"} {
		values = append(values, "{"+name+"}", about[name])
	}
	t := say(kind, language, values...)
	t.URL = IncidentPage(id)
	return t
}

// toWatchers is what every superuser is told of each kind of incident.
var toWatchers = map[string]entry{
	"webhook_unmatched": {Warning, map[string]phrase{
		"en": {"A webhook fits no order", "No order was found for webhook {webhook} of {provider}."},
		"es": {"Un webhook no corresponde a ningún pedido", "No se ha encontrado ningún pedido para el webhook {webhook} de {provider}."},
	}},
	"webhook_parked": {Warning, map[string]phrase{
		"en": {"A webhook was set aside", "Acting on webhook {webhook} of {provider} has failed too often."},
		"es": {"Se ha apartado un webhook", "Tratar el webhook {webhook} de {provider} ha fallado demasiadas veces."},
	}},
	"reaction_failed": {System, map[string]phrase{
		"en": {"A reaction has failed", "What should have followed from event {position} ({event}) has failed for good."},
		"es": {"Una reacción ha fallado", "Lo que debía seguir al evento {position} ({event}) ha fallado definitivamente."},
	}},
	"log_broken": {System, map[string]phrase{
		"en": {"The log has been tampered with", "Event {position} of the log is not as it was written."},
		"es": {"Se ha manipulado el registro", "El evento {position} del registro no es como se escribió."},
	}},
	"projection_failed": {System, map[string]phrase{
		"en": {"A read table could not be built", "The read table {projection} could not be built."},
		"es": {"No se ha podido construir una tabla de lectura", "No se ha podido construir la tabla de lectura {projection}."},
	}},
	"access_refused": {Warning, map[string]phrase{
		"en": {"A server refuses access", "Work for {queue} waits: the server does not grant “{lacks}” ({code}). It goes on by itself once it does."},
		"es": {"Un servidor deniega el acceso", "El trabajo para {queue} espera: el servidor no concede «{lacks}» ({code}). Seguirá solo en cuanto lo haga."},
	}},
	"reader_stuck": {System, map[string]phrase{
		"en": {"A reader of the log does not move", "{reader} has not moved from event {position} for a minute. Notifications and mails wait."},
		"es": {"Un lector del registro no avanza", "{reader} no avanza del evento {position} desde hace un minuto. Las notificaciones y los correos esperan."},
	}},
	"engine_orphan": {Warning, map[string]phrase{
		"en": {"The engine has an object that the panel does not know", "{kind} {engine_id} at the engine belongs to tenant {tenant}, and no record is about it."},
		"es": {"El motor tiene un objeto que el panel no conoce", "{kind} {engine_id} del motor pertenece al inquilino {tenant} y ningún registro trata de él."},
	}},
	"engine_missing": {Warning, map[string]phrase{
		"en": {"The engine has lost an object", "{kind} {id} of tenant {tenant} is no longer at the engine."},
		"es": {"El motor ha perdido un objeto", "{kind} {id} del inquilino {tenant} ya no está en el motor."},
	}},
	"engine_changed": {Warning, map[string]phrase{
		"en": {"An object was changed at the engine", "{kind} {id} of tenant {tenant} differs at the engine: {fields}."},
		"es": {"Se ha cambiado un objeto en el motor", "{kind} {id} del inquilino {tenant} difiere en el motor: {fields}."},
	}},
	"provider_down": {Warning, map[string]phrase{
		"en": {"A payment provider does not answer", "{provider} has not answered for a while. Payments are looked at as soon as it does."},
		"es": {"Un proveedor de pagos no responde", "{provider} lleva un tiempo sin responder. Los pagos se revisarán en cuanto lo haga."},
	}},
}

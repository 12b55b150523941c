package notice

// InvoiceCreated tells a customer of an invoice.
func InvoiceCreated(number, language string) Text {
	return inLanguage(invoiceCreated, language).about(Billing, "{number}", number)
}

// RefundDone tells a customer that money has gone back.
func RefundDone(number, language string) Text {
	return inLanguage(refundDone, language).about(Billing, "{number}", number)
}

// MachineReady tells a customer that a virtual server is there.
func MachineReady(number, language string) Text {
	return inLanguage(machineReady, language).about(VPS, "{number}", number)
}

// MachineFailed tells a customer that a virtual server could not be made.
func MachineFailed(number, language string) Text {
	return inLanguage(machineFailed, language).about(VPS, "{number}", number)
}

// CertificateIssued tells of a certificate that is there, by its domain.
func CertificateIssued(_, domain, language string) Text {
	return inLanguage(certificateIssued, language).about(Hosting, "{name}", domain)
}

// CertificateFailed tells of a certificate that could not be had.
func CertificateFailed(_, domain, language string) Text {
	return inLanguage(certificateFailed, language).about(Hosting, "{name}", domain)
}

// CertificateExpiring tells of a certificate that ends in two weeks.
func CertificateExpiring(_, domain, language string) Text {
	return inLanguage(certificateExpiring, language).about(Hosting, "{name}", domain)
}

// EngineRefused tells that the engine has refused a change of a resource of
// the kind: "site", "mailbox".
func EngineRefused(kind, name, language string) Text {
	return inLanguage(engineRefused, language).about(Hosting, "{kind}", inLanguage(kinds, language)(kind), "{name}", name)
}

// Installed tells that a program was installed in a site.
func Installed(domain, language string) Text {
	return inLanguage(installed, language).about(Hosting, "{name}", domain)
}

// TenantSuspended tells that nothing of a tenant runs any more.
func TenantSuspended(language string) Text {
	return inLanguage(tenantSuspended, language).about(System)
}

// TenantReactivated tells that a tenant runs again.
func TenantReactivated(language string) Text {
	return inLanguage(tenantReactivated, language).about(System)
}

// kinds are what resources are called.
var kinds = map[string]func(kind string) string{
	"en": named(map[string]string{
		"site": "site", "database": "database", "dns_zone": "DNS zone", "dns_record": "DNS record", "mail_domain": "mail domain", "mailbox": "mailbox",
		"mail_alias": "mail alias", "ftp_account": "FTP account", "shell_user": "shell user", "ssl_certificate": "certificate",
	}, "record"),
	"es": named(map[string]string{
		"site": "sitio", "database": "base de datos", "dns_zone": "zona DNS", "dns_record": "registro DNS", "mail_domain": "dominio de correo", "mailbox": "buzón",
		"mail_alias": "alias de correo", "ftp_account": "cuenta FTP", "shell_user": "usuario de shell", "ssl_certificate": "certificado",
	}, "registro"),
}

func named(names map[string]string, other string) func(string) string {
	return func(kind string) string {
		if name, known := names[kind]; known {
			return name
		}
		return other
	}
}

var invoiceCreated = map[string]phrase{
	"en": {"A new invoice", "There is an invoice for your order {number}."},
	"es": {"Nueva factura", "Ya hay una factura de su pedido {number}."},
}

var refundDone = map[string]phrase{
	"en": {"Money refunded", "Money for your order {number} has been refunded."},
	"es": {"Reembolso realizado", "Se ha reembolsado dinero de su pedido {number}."},
}

var machineReady = map[string]phrase{
	"en": {"Your virtual server is ready", "The virtual server of order {number} has been set up."},
	"es": {"Su servidor virtual está listo", "El servidor virtual del pedido {number} ya está instalado."},
}

var machineFailed = map[string]phrase{
	"en": {"Your virtual server is delayed", "The virtual server of order {number} could not be set up. We are looking into it."},
	"es": {"Su servidor virtual se retrasa", "No se ha podido instalar el servidor virtual del pedido {number}. Lo estamos revisando."},
}

var certificateIssued = map[string]phrase{
	"en": {"Certificate issued", "There is a new certificate for {name}."},
	"es": {"Certificado emitido", "Ya hay un certificado nuevo para {name}."},
}

var certificateFailed = map[string]phrase{
	"en": {"Certificate failed", "The certificate for {name} could not be issued."},
	"es": {"Certificado no emitido", "No se ha podido emitir el certificado para {name}."},
}

var certificateExpiring = map[string]phrase{
	"en": {"A certificate is about to expire", "The certificate for {name} expires in less than 14 days."},
	"es": {"Un certificado está a punto de caducar", "El certificado para {name} caduca en menos de 14 días."},
}

var engineRefused = map[string]phrase{
	"en": {"A change was refused", "The hosting engine has refused a change: {kind} {name}."},
	"es": {"Se ha rechazado un cambio", "El servidor de alojamiento ha rechazado un cambio: {kind} {name}."},
}

var installed = map[string]phrase{
	"en": {"Installation finished", "A program has been installed in {name}."},
	"es": {"Instalación terminada", "Se ha instalado un programa en {name}."},
}

var tenantSuspended = map[string]phrase{
	"en": {"Your account is suspended", "Your services have been suspended."},
	"es": {"Su cuenta está suspendida", "Sus servicios se han suspendido."},
}

var tenantReactivated = map[string]phrase{
	"en": {"Your account is active again", "Your services have been reactivated."},
	"es": {"Su cuenta vuelve a estar activa", "Sus servicios se han reactivado."},
}

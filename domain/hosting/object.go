package hosting

import (
	"maps"
	"strings"

	"hostpanel/domain/dns"
	"hostpanel/domain/field"
)

// Works tells whether somebody at the hosting engine works behind the kind's
// resources. Machines have a hypervisor of their own.
func (k Kind) Works() bool { return !k.Alone && k.Name != "vm" }

// Object is a resource as the hosting engine is to have it: its natural key
// there, our reference, and the values of its spec but for secrets. The
// parent's values are those of what it is a part of; nil for kinds that are a
// part of nothing. Engine ids are the caller's to add.
func (k Kind) Object(id int64, spec, parent field.Values) EngineObject {
	o := EngineObject{Kind: k.Name, Name: k.nameAtEngine(spec, parent), Values: maps.Clone(spec)}
	for _, name := range k.Secrets() {
		delete(o.Values, name)
	}
	switch k.Name {
	case "mail_alias":
		o.Values["destinations"] = spec["destination"]
	case "tenant":
		o.Ref = CustomerNumber(id)
		if o.Name == "" {
			o.Name = o.Ref
		}
	}
	return o
}

func (k Kind) nameAtEngine(spec, parent field.Values) string {
	switch names := k.NameFields(); {
	case k.Name == "dns_record":
		return nameOfRecord(spec, parent)
	case k.Name == "ssl_certificate":
		return text(parent, "domain")
	case len(names) == 1:
		return text(spec, names[0])
	}
	return ""
}

// NameFields are the fields of the spec that an object's natural key at the
// engine follows from.
func (k Kind) NameFields() []string {
	switch k.Name {
	case "tenant", "ftp_account", "shell_user":
		return []string{"username"}
	case "site", "mail_domain", "proxy":
		return []string{"domain"}
	case "database":
		return []string{"engine_name"}
	case "dns_zone":
		return []string{"origin"}
	case "dns_record":
		return []string{"zone", "record_type", "name", "priority", "data"}
	case "mailbox", "mail_alias":
		return []string{"email"}
	}
	return nil
}

// Naming are those fields of a spec.
func (k Kind) Naming(spec field.Values) field.Values {
	name := field.Values{}
	for _, f := range k.NameFields() {
		name[f] = spec[f]
	}
	return name
}

// nameOfRecord is a record's key at the engine. One whose zone is not told
// knows its origin itself.
func nameOfRecord(spec, parent field.Values) string {
	origin, sort := text(parent, "origin"), text(spec, "record_type")
	if origin == "" {
		origin = text(spec, "zone_origin")
	}
	return RecordName(RecordKey{
		Origin: origin, Name: dns.Full(text(spec, "name"), origin), Type: sort,
		Priority: number(spec, "priority"), Data: strings.TrimSpace(dns.Normal(sort, text(spec, "data"), origin)),
	})
}

package record

import (
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
)

// MachineFields are what the customer of a virtual server may say of it in an order.
func MachineFields(d *order.Draft) field.Set {
	return field.Set{
		field.Text("hostname", &d.Hostname).Is(field.Domain).Default("").Doc("VPS plans only: what the server is called."),
		field.Text("ssh_key", &d.SSHKey).Is(hosting.SSHPublicKey).Default("").Doc(
			"VPS plans only: the public key of who may sign in as root, as a line of authorized_keys. Its comment is not kept.",
		),
	}
}

package paneltest

import ()

const (
	AnaMail  = "ana@example.com"
	RootMail = "root@example.com"
)

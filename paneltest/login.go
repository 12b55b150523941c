package paneltest

const (
	AnaMail  = "ana@example.com"
	RootMail = "root@example.com"
)

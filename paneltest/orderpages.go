package paneltest

import ()

const OpMail = "op@example.com"

package paneltest

const OpMail = "op@example.com"

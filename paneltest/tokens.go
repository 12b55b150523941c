package paneltest

import (
	"net/http"
)

func Figures(s *Shop) {
	s.Server.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write([]byte("orders 7"))
	})
}

func InvalidToken(message string) string {
	return `{"detail":"Given token not valid for any token type","code":"token_not_valid","messages":[{"token_class":"AccessToken","token_type":"access","message":"` +
		message + `"}]}`
}

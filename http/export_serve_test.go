package http

import "time"

// Hurry lets the server lose its patience with slow clients after a moment.
func (s *Server) Hurry(moment time.Duration) {
	s.patience = usual
	s.patience.header, s.patience.request = moment, moment
}

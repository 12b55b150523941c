package http

import "time"

// HurryAnswers lets the server lose its patience with slow answers too.
func (s *Server) HurryAnswers(moment time.Duration) { s.patience.answer = moment }

// Beat lets streams have heartbeats so often.
func (s *Server) Beat(every time.Duration) { s.beat = every }

// Hurry lets the server lose its patience with slow clients after a moment.
func (s *Server) Hurry(moment time.Duration) {
	s.patience = usual
	s.patience.header, s.patience.request = moment, moment
}

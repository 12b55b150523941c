package stripetest

import "fmt"

// RefundsBecome tells how refunds that are asked for begin: succeeded (which
// they do unless told otherwise), pending or failed.
func (s *Server) RefundsBecome(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.becomes = status
}

// Refund is a user of the dashboard who gives money back; it answers with the
// refund's id.
func (s *Server) Refund(payment string, minor int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.paid(payment)
	if p := i.refuses(minor); p != nil {
		panic("stripetest: " + p.message)
	}
	return s.giveBack(i, minor, "succeeded", map[string]string{}).id
}

// paid finds a payment that has succeeded, or panics.
func (s *Server) paid(payment string) *intent {
	i, known := s.intents[payment]
	if !known || i.charge == nil {
		panic("stripetest: nobody has paid " + payment)
	}
	return i
}

func (s *Server) giveBack(i *intent, minor int64, status string, metadata map[string]string) *refund {
	r := &refund{id: newID("re_"), status: status, intent: i, minor: minor, metadata: metadata, created: s.now()}
	s.refunds = append(s.refunds, r)
	if status != "failed" {
		i.charge.refunded += minor
	}
	s.emit("refund.created", s.showRefund(r))
	s.emit("charge.refunded", s.showCharge(i, false))
	return r
}

// SetRefund is a bank that decides about a refund that is pending, or returns
// one that has succeeded: succeeded, failed or canceled.
func (s *Server) SetRefund(id, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.refunds {
		if r.id != id {
			continue
		}
		if back := status != "succeeded" && (r.status == "pending" || r.status == "succeeded"); back {
			r.intent.charge.refunded -= r.minor
		}
		r.status = status
		s.emit("refund.updated", s.showRefund(r))
		if status == "failed" {
			s.emit("refund.failed", s.showRefund(r))
		}
		return
	}
	panic("stripetest: no refund " + id)
}

// Dispute is a bank that claims money back, and takes it meanwhile; it answers
// with the dispute's id. One whose status begins with "warning" is an inquiry,
// which takes nothing.
func (s *Server) Dispute(payment string, minor int64, status string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.paid(payment)
	d := &dispute{id: newID("du_"), status: status, intent: i, minor: minor, created: s.now()}
	s.disputes = append(s.disputes, d)
	i.charge.disputed = true
	s.emit("charge.dispute.created", s.showDispute(d))
	if status == "needs_response" {
		d.moved = append(d.moved, -minor)
		s.emit("charge.dispute.funds_withdrawn", s.showDispute(d))
	}
	return d.id
}

// CloseDispute decides a dispute: won, lost, warning_closed or prevented.
func (s *Server) CloseDispute(id, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.disputes {
		if d.id == id {
			if d.status = status; status == "won" && len(d.moved) > 0 {
				d.moved = append(d.moved, d.minor)
			}
			s.emit("charge.dispute.closed", s.showDispute(d))
			return
		}
	}
	panic(fmt.Sprintf("stripetest: no dispute %s", id))
}

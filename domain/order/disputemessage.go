package order

// DisputeMessage names the texts that tell an operator how a dispute of the order stands, and
// what happens next (docs/orders.md, "Disputes"). The service is off while it is suspended for
// the sake of the order.
func (o Order) DisputeMessage(d SeenDispute, isOff bool) []string {
	switch {
	case d.State == DisputeWon && o.Status == StatusRefunded:
		return []string{"dispute_won_refunded"}
	case d.State == DisputeWon:
		return []string{"dispute_won"}
	case d.State == DisputeLost && o.Status == StatusRefunded:
		return []string{"dispute_lost", "dispute_lost_all"}
	case d.State == DisputeLost:
		return []string{"dispute_lost", "dispute_lost_part"}
	}
	service, decides, lost := "dispute_service_none", "dispute_by_provider", "dispute_if_lost"
	switch {
	case isOff:
		service = "dispute_service_off"
	case o.Status == StatusActive:
		service = "dispute_service_on"
	}
	if d.ByOperator() {
		decides = "dispute_say"
	}
	if paid, known := o.Payments[d.Payment]; known && d.Minor+o.Returned(d.Payment) < paid.Minor {
		lost = "dispute_if_lost_part"
	}
	if o.Status == StatusRefunded {
		return []string{"dispute_open", decides, "dispute_refunded"}
	}
	return []string{"dispute_open", service, decides, "dispute_if_won", lost}
}

// HasReportedDispute tells whether an operator has to confirm a dispute.
func (o Order) HasReportedDispute() bool { return o.Reported && !o.isDisputed() }

// AsksForDispute tells whether only an operator can say how a dispute stands.
func (o Order) AsksForDispute() bool {
	for _, d := range o.Disputes {
		if d.State == DisputeOpen && d.ByOperator() {
			return true
		}
	}
	return o.HasReportedDispute()
}

package storefront

import (
	"fmt"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/wording"
)

// EventTypes lists every event that the streams of this package may hold.
var EventTypes = []domain.EventType{
	domain.Register[PlanOffered](),
	domain.Register[PlanChanged](),
	domain.Register[PlanWithdrawn](),
	domain.Register[WidgetCreated](),
	domain.Register[WidgetChanged](),
	domain.Register[WidgetRemoved](),
	domain.Register[APIKeyIssued](),
	domain.Register[APIKeyChanged](),
	domain.Register[APIKeyRevoked](),
}

type (
	// PlanOffered: a plan is on offer.
	PlanOffered struct {
		Spec field.Values `json:"spec"` // of [Plan], complete
		At   time.Time    `json:"at"`
	}
	// PlanChanged: a plan on offer has other values.
	PlanChanged struct {
		Spec field.Values `json:"spec"` // only what changed
		At   time.Time    `json:"at"`
	}
	// PlanWithdrawn: the plan is no longer on offer, for good.
	PlanWithdrawn struct {
		At time.Time `json:"at"`
	}
	// WidgetCreated: an order form exists.
	WidgetCreated struct {
		WidgetID string       `json:"widget_id"` // the public name
		Spec     field.Values `json:"spec"`      // of [Widget]
		At       time.Time    `json:"at"`
	}
	// WidgetChanged: an order form has other values.
	WidgetChanged struct {
		Spec field.Values `json:"spec"` // only what changed
		At   time.Time    `json:"at"`
	}
	// WidgetRemoved: the order form is gone, for good.
	WidgetRemoved struct {
		At time.Time `json:"at"`
	}
	// KeyIssued never holds the key, only the SHA-256 of it. The key is 190
	// random bits, so the sum cannot be searched for.
	APIKeyIssued struct {
		ID        string       `json:"id"` // public
		Mode      Mode         `json:"mode"`
		Hash      []byte       `json:"hash"`
		Spec      field.Values `json:"spec"`       // of [APIKey]
		CreatedBy int64        `json:"created_by"` // user
		Owner     int64        `json:"owner"`      // user
		At        time.Time    `json:"at"`
	}
	// APIKeyChanged: a key has other values; the key itself never changes.
	APIKeyChanged struct {
		Spec field.Values `json:"spec"` // only what changed
		At   time.Time    `json:"at"`
	}
	// APIKeyRevoked: the key opens nothing any more, for good.
	APIKeyRevoked struct {
		At time.Time `json:"at"`
	}
)

func (PlanOffered) EventName() string   { return "storefront.plan_offered" }
func (PlanChanged) EventName() string   { return "storefront.plan_changed" }
func (PlanWithdrawn) EventName() string { return "storefront.plan_withdrawn" }
func (WidgetCreated) EventName() string { return "storefront.widget_created" }
func (WidgetChanged) EventName() string { return "storefront.widget_changed" }
func (WidgetRemoved) EventName() string { return "storefront.widget_removed" }
func (APIKeyIssued) EventName() string  { return "storefront.api_key_issued" }
func (APIKeyChanged) EventName() string { return "storefront.api_key_changed" }
func (APIKeyRevoked) EventName() string { return "storefront.api_key_revoked" }

func (e PlanOffered) Says() string { return "plan offered" + wording.Around(": ", e.Spec.Label(), "") }
func (e PlanChanged) Says() string { return "plan changed: " + wording.Keys(e.Spec) }
func (PlanWithdrawn) Says() string { return "plan withdrawn" }

func (e WidgetCreated) Says() string {
	return "widget " + e.WidgetID + " made" + wording.Around(": ", e.Spec.Label(), "")
}

func (e WidgetChanged) Says() string { return "widget changed: " + wording.Keys(e.Spec) }
func (WidgetRemoved) Says() string   { return "widget removed" }

func (e APIKeyIssued) Says() string {
	return fmt.Sprintf("%s key %s issued for user %d", e.Mode, e.ID, e.Owner)
}

func (e APIKeyChanged) Says() string { return "key changed: " + wording.Keys(e.Spec) }
func (APIKeyRevoked) Says() string   { return "key revoked" }

func (e PlanOffered) evolve(Offer) Offer   { return Offer{Status: OnOffer, Spec: e.Spec} }
func (e PlanChanged) evolve(o Offer) Offer { o.Spec = merged(o.Spec, e.Spec); return o }
func (PlanWithdrawn) evolve(o Offer) Offer { o.Status = Withdrawn; return o }

func (e WidgetCreated) evolve(Form) Form {
	return Form{Status: OnOffer, WidgetID: e.WidgetID, Spec: e.Spec}
}
func (e WidgetChanged) evolve(f Form) Form { f.Spec = merged(f.Spec, e.Spec); return f }
func (WidgetRemoved) evolve(f Form) Form   { f.Status = Withdrawn; return f }

func (e APIKeyIssued) evolve(Key) Key {
	return Key{Issued: true, Mode: e.Mode, Spec: e.Spec, Owner: e.Owner}
}
func (e APIKeyChanged) evolve(k Key) Key { k.Spec = merged(k.Spec, e.Spec); return k }
func (e APIKeyRevoked) evolve(k Key) Key { k.RevokedAt = e.At; return k }

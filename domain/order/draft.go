package order

import "github.com/google/uuid"

// A Draft is an order as a customer asks for it. Prices are not in it: they are
// those of the plan.
type Draft struct {
	PlanID        int64
	Customer      Customer
	PaymentMethod string
	Period        Period
	Domain, OS    string
	Hostname      string // of a virtual server; "": the panel names it
	SSHKey        string // of who may sign in there; "": none
	Language      string
	AnyLanguage   bool // none was asked for: a widget's own counts
	Widget        string
	Return        Return
	KeepMethod    bool // the customer agrees that the payment method is kept for renewals

	APIKey    string // public id of the key that it is asked with
	Owner     int64  // user to whom the key belongs
	TestMoney bool   // the key may only take test money
	Joins     Joining

	Agreed Place // what is ordered, as plan and prices are now; see Prepare
}

// A BillPayment is how the customer of an open invoice wants to pay.
type BillPayment struct {
	Invoice uuid.UUID
	Method  string    // blank: that of the last payment
	KeepFor uuid.UUID // the person who agrees that the method is kept; zero: it is not
	Resumed bool      // whatever has begun goes on, as it has begun
}

// Payable tells where the customer of an order can pay.
type Payable struct {
	ID         uuid.UUID
	Number     string
	PaymentURL string
	Status     Status
}

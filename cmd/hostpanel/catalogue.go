package main

import (
	"hostpanel/adapters/compute/sandbox"
	enginesandbox "hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/adapters/payments/test"
	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// catalogue is every fact that the log may hold.
func catalogue() domain.Catalogue {
	return domain.NewCatalogue(order.Facts, storefront.Facts, account.Facts, billing.Facts, hosting.Facts, notice.Facts, webhook.Facts,
		operations.IncidentFacts, sagas.Facts)
}

// serveAll lets the store carry out every command that there is.
func serveAll(s *eventstore.Store) {
	eventstore.Serve(s, order.Category, order.Decider)
	eventstore.Serve(s, storefront.PlanCategory, storefront.Plans)
	eventstore.Serve(s, storefront.WidgetCategory, storefront.Widgets)
	eventstore.Serve(s, storefront.KeyCategory, storefront.Keys)
	eventstore.Serve(s, account.Category, account.Decider)
	eventstore.Serve(s, account.SubjectCategory, account.Subjects)
	eventstore.Journal(s, account.SecurityCategory, account.Security)
	eventstore.Serve(s, billing.InvoiceCategory, billing.Invoices)
	eventstore.Serve(s, billing.SubscriptionCategory, billing.Subscriptions)
	for _, kind := range hosting.Kinds {
		eventstore.Serve(s, kind.Name, hosting.Decider)
	}
	eventstore.Serve(s, hosting.OperationCategory, hosting.Operations)
	eventstore.Serve(s, notice.NotificationCategory, notice.Notifications)
	eventstore.Serve(s, notice.InboxCategory, notice.Inboxes)
	eventstore.Serve(s, notice.PreferencesCategory, notice.Preferring)
	eventstore.Serve(s, webhook.EndpointCategory, webhook.Endpoints)
	eventstore.Serve(s, webhook.DeliveryCategory, webhook.Deliveries)
	eventstore.Serve(s, operations.IncidentCategory, operations.Incidents)
	sagas.Serve(s)
}

// migrations are those of all parts that have tables of their own, beside the
// log's and the read tables.
func migrations() []eventstore.Migration {
	return []eventstore.Migration{
		{Area: "sagas", Files: sagas.Migrations},
		{Area: "faults", Files: faults.Migrations}, // the sandboxes need it
		{Area: "engine_sandbox", Files: enginesandbox.Migrations},
		{Area: "compute_sandbox", Files: sandbox.Migrations},
		{Area: "payments_test", Files: test.Migrations},
	}
}

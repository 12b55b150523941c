// Package catalogue lists every event that the log may hold, and every decider (docs/log.md).
package catalogue

import (
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

// Events is every event that the log may hold.
func Events() domain.Catalogue {
	return domain.NewCatalogue(order.EventTypes, storefront.EventTypes, account.EventTypes, billing.EventTypes,
		hosting.EventTypes, notice.EventTypes,
		webhook.EventTypes, operations.IncidentEventTypes, sagas.EventTypes, operations.ReviewEventTypes)
}

// Serve lets the store carry out every command that there is.
func Serve(s *eventstore.Store) {
	eventstore.Serve(s, order.Category, order.Decider)
	eventstore.Serve(s, storefront.PlanCategory, storefront.Plans)
	eventstore.Serve(s, storefront.WidgetCategory, storefront.Widgets)
	eventstore.Serve(s, storefront.KeyCategory, storefront.Keys)
	eventstore.Serve(s, account.Category, account.Decider)
	eventstore.Serve(s, account.SubjectCategory, account.Subjects)
	eventstore.Journal(s, account.SecurityCategory, account.Security)
	eventstore.Serve(s, billing.InvoiceCategory, billing.Invoices)
	eventstore.Journal(s, billing.FiscalYearCategory, billing.FiscalYears)
	eventstore.Serve(s, billing.SubscriptionCategory, billing.Subscriptions)
	eventstore.Serve(s, billing.PaymentMethodCategory, billing.PaymentMethods)
	eventstore.Serve(s, billing.MethodSetupCategory, billing.MethodSetups)
	eventstore.Serve(s, billing.CreditCategory, billing.Balances)
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
	eventstore.Serve(s, sagas.Category, sagas.Decider)
	eventstore.Journal(s, operations.ReviewCategory, operations.Reviews)
}

package web

import (
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
)

// Where pages and their files stand.
const (
	StylePath   = "/panel/style.css"  // of the style sheet
	CopyPath    = "/panel/copy.js"    // of the script that copies
	LivePath    = "/panel/live.js"    // of the script that keeps parts up to date
	ConsolePath = "/panel/console.js" // of the script that shows screens

	LogoutPath      = "/logout/"         // ends a session
	ResetPath       = "/password-reset/" // asks for a link to set a password
	SetPasswordPath = "/set-password/"   // where that link leads

	AccountPath        = notice.AccountPath
	NotificationsPath  = AccountPath + "notifications/" // what the user was told
	SessionsPath       = AccountPath + "sessions/"      // where the user has signed in
	PreferencesPath    = AccountPath + "preferences/"   // what the user wants to hear of
	PanelPath          = hosting.PanelPath              // where customers land
	TenantsPath        = PanelPath + "tenants/"         // where users choose for which tenant they act
	billingPath        = "/billing/"
	InvoicesPath       = billingPath + "invoices/"        // what the tenant was billed
	ServicesPath       = notice.ServicesPath              // what the tenant has bought
	BooksPath          = StorefrontPath + "books/"        // what was billed to all tenants, by month
	SubscriptionsPath  = billingPath + "subscriptions/"   // what the tenant pays for
	PaymentMethodsPath = billingPath + "payment-methods/" // that are charged for it
	CreditPath         = billingPath + "credit/"          // what the tenant has paid in advance
	TenantOrdersPath   = billingPath + "orders/"          // what was ordered for the tenant, and what can be

	NotificationsAPI = "/notifications/api/v1/" // of what users were told

	StorefrontPath     = "/storefront/" // where operators land
	OrdersPath         = notice.OrdersPath
	PlansPath          = StorefrontPath + "plans/"
	WidgetsPath        = StorefrontPath + "widgets/"
	KeysPath           = StorefrontPath + "keys/"
	NodesPath          = StorefrontPath + "nodes/"   // of hypervisors, with their address pools
	CustomersPath      = StorefrontPath + "tenants/" // the tenants, for operators
	UsersPath          = StorefrontPath + "users/"
	IncidentsPath      = notice.IncidentsPath
	RunsPath           = StorefrontPath + "runs/"
	InboxPath          = StorefrontPath + "inbox/"
	MailsPath          = StorefrontPath + "mails/"
	ReadTablesPath     = StorefrontPath + "read-tables/"
	SettingsPath       = StorefrontPath + "settings/"
	ReconciliationPath = StorefrontPath + "reconciliation/"
	GuidePath          = StorefrontPath + "integration/" // how websites take orders
)

package hosting

import (
	"strings"

	"hostpanel/domain/dns"
)

// Kinds are all the hosting resources (docs/hosting.md). To add one, write its
// Spec in a file of its own and give it a line here.
var Kinds = []Kind{
	{
		Name: "tenant", Class: "Tenant", Label: "tenant", Collection: "tenants", EngineID: "hosting_client_id", Soft: true,
		Shown: words("id name email slug contact_name company_name phone tax_id address city postal_code country language package parent username " +
			"status suspended_reason is_active package_name customer_number suspended_at hosting_client_id last_synced_at " +
			"sync_status sync_error created_at updated_at"),
		Names:  []Name{{Field: "package_name", Of: "package", Shows: "name"}},
		Unique: []string{"slug", "username"}, Personal: personalOfTenant,
		Refs:    []Reference{{Field: "package", Kind: "package"}, {Field: "parent", Kind: "tenant"}},
		Filters: []string{"status", "package", "slug"}, Search: []string{"name", "email"}, Ordering: []string{"name"}, Called: "slug",
		Verbs: All, Writers: Superuser, New: spec[Tenant],
	},
	{
		Name: "package", Class: "Package", Label: "package", Collection: "packages", Alone: true, Shared: true,
		Shown: words("id name slug description max_sites max_databases max_storage_mb max_traffic_mb max_mail_domains max_mailboxes " +
			"max_mail_aliases max_ftp_accounts max_shell_users max_dns_zones ssl_enabled shell_enabled backup_enabled is_default is_active " +
			"created_at updated_at"),
		Unique: []string{"name", "slug"}, Single: "is_default", InUse: "The package is in use.",
		Filters: []string{"is_default", "slug"}, Search: []string{"name", "description"}, Ordering: []string{"name"}, Called: "slug",
		Verbs: All, Writers: Superuser, New: spec[Package],
	},
	{
		Name: "site", Class: "Site", Label: "site", Collection: "sites", EngineID: "hosting_site_id", Halts: true, Soft: true,
		Shown: words("id tenant tenant_name domain hosting_site_id ip_address document_root is_active ssl_enabled " +
			"sync_status sync_error created_at updated_at"),
		Unique:  []string{"domain"},
		Filters: []string{"domain", "ip_address", "ssl_enabled"}, Search: []string{"domain"}, Ordering: []string{"domain"}, Called: "domain",
		Quota: "sites", Verbs: All, Writers: Member, New: spec[Site],
	},
	{
		Name: "database", Class: "Database", Label: "database", Collection: "databases", EngineID: "hosting_database_id", Halts: true,
		Shown: words("id tenant tenant_name name hosting_database_id db_user db_password is_active site engine_name engine_user " +
			"sync_status sync_error created_at updated_at"),
		Sets:    [][]string{{"tenant", "name"}, {"tenant", "db_user"}},
		Refs:    []Reference{{Field: "site", Kind: "site"}},
		Filters: []string{"site", "name"}, Search: []string{"name", "db_user"}, Called: "name",
		Quota: "databases", Generated: "db_password", Verbs: Create | Delete, Writers: Member, New: spec[Database],
	},
	{
		Name: "dns_zone", Class: "DNSZone", Label: "dns zone", Collection: "dns-zones", EngineID: "hosting_zone_id",
		Shown: words("id tenant tenant_name origin hosting_zone_id ns_primary admin_email ttl records_count is_active " +
			"sync_status sync_error created_at updated_at"),
		Counts: []Count{{Field: "records_count", Kind: "dns_record", By: "zone"}},
		Unique: []string{"origin"}, Personal: []string{"admin_email"},
		Filters: []string{"origin"}, Search: []string{"origin"}, Called: "origin",
		Quota: "dns_zones", Verbs: All, Writers: Member, New: spec[DNSZone],
	},
	{
		Name: "dns_record", Class: "DNSRecord", Label: "dns record", Collection: "dns-records", EngineID: "hosting_record_id",
		Shown: words("id zone zone_origin record_type name data priority ttl hosting_record_id is_active " +
			"sync_status sync_error created_at updated_at"),
		Sets:    [][]string{{"zone", "record_type", "name", "data"}},
		Refs:    []Reference{{Field: "zone", Kind: "dns_zone", Parent: true}},
		Filters: []string{"zone", "record_type", "name"}, Search: []string{"name", "data"}, Called: "name", Within: "records", Oldest: true,
		Most: dns.MaxRecords, Verbs: All, Writers: Member, New: spec[DNSRecord],
	},
	{
		Name: "mail_domain", Class: "MailDomain", Label: "mail domain", Collection: "mail-domains", EngineID: "hosting_mail_domain_id", Halts: true,
		Shown: words("id tenant tenant_name domain hosting_mail_domain_id dkim_enabled dkim_selector dkim_public mailboxes_count aliases_count is_active " +
			"sync_status sync_error created_at updated_at"),
		Counts: []Count{
			{Field: "mailboxes_count", Kind: "mailbox", By: "mail_domain"},
			{Field: "aliases_count", Kind: "mail_alias", By: "mail_domain"},
		},
		Unique: []string{"domain"}, InUse: "The mail domain still has mailboxes.",
		Filters: []string{"domain"}, Search: []string{"domain"}, Called: "domain",
		Quota: "mail_domains", Verbs: All, Writers: Member, New: spec[MailDomain],
	},
	{
		Name: "mailbox", Class: "Mailbox", Label: "mailbox", Collection: "mailboxes", EngineID: "hosting_mailbox_id", Halts: true,
		Shown: words("id tenant tenant_name mail_domain mail_domain_name email local_part name hosting_mailbox_id quota_mb " +
			"imap_enabled pop3_enabled smtp_enabled is_active sync_status sync_error created_at updated_at"),
		Sets: [][]string{{"mail_domain", "local_part"}}, Address: "local_part", Rival: "An alias with this address already exists.",
		Refs:     []Reference{{Field: "mail_domain", Kind: "mail_domain", Parent: true}},
		Personal: []string{"email", "local_part", "name"},
		Filters:  []string{"mail_domain", "email"}, Search: []string{"email", "name"}, Called: "email",
		Quota: "mailboxes", Verbs: All, Writers: Member, New: spec[Mailbox],
	},
	{
		Name: "mail_alias", Class: "MailAlias", Label: "mail alias", Collection: "mail-aliases", EngineID: "hosting_alias_id", Halts: true,
		Shown: words("id tenant tenant_name mail_domain mail_domain_name source email destination destinations alias_type hosting_alias_id is_active " +
			"sync_status sync_error created_at updated_at"),
		Sets: [][]string{{"mail_domain", "source"}}, Address: "source", Rival: "A mailbox with this address already exists.",
		Refs:     []Reference{{Field: "mail_domain", Kind: "mail_domain", Parent: true}},
		Personal: []string{"source", "email", "destination"},
		Filters:  []string{"mail_domain", "email"}, Search: []string{"email", "destination"}, Called: "email",
		Quota: "mail_aliases", Verbs: All, Writers: Member, New: spec[MailAlias],
	},
	{
		Name: "ftp_account", Class: "FTPAccount", Label: "ftp account", Collection: "ftp-accounts", EngineID: "hosting_ftp_user_id", Halts: true,
		Shown: words("id tenant tenant_name site site_domain username hosting_ftp_user_id directory quota_mb is_active " +
			"sync_status sync_error created_at updated_at"),
		Names:   siteDomain,
		Unique:  []string{"username"},
		Refs:    []Reference{{Field: "site", Kind: "site", Parent: true}},
		Filters: []string{"site", "username"}, Search: []string{"username"}, Called: "username",
		Quota: "ftp_accounts", Verbs: All, Writers: Member, New: spec[FTPAccount],
	},
	{
		Name: "shell_user", Class: "ShellUser", Label: "shell user", Collection: "shell-users", EngineID: "hosting_shell_user_id", Halts: true,
		Shown: words("id tenant tenant_name site site_domain username hosting_shell_user_id ssh_public_key shell chroot quota_mb home_directory is_active " +
			"sync_status sync_error created_at updated_at"),
		Names:   siteDomain,
		Unique:  []string{"username"},
		Refs:    []Reference{{Field: "site", Kind: "site", Parent: true}},
		Filters: []string{"site", "username"}, Search: []string{"username"}, Called: "username",
		Quota: "shell_users", Verbs: All, Writers: Member, New: spec[ShellUser],
	},
	{
		Name: "ssl_certificate", Class: "SSLCertificate", Label: "ssl certificate", Collection: "ssl-certificates", Halts: true,
		Shown: words("id site site_domain cert_type domain expires_at is_active auto_renew is_expired days_until_expiry " +
			"status last_error created_at updated_at"),
		Names:   siteDomain,
		Sets:    [][]string{{"site", "cert_type", "domain"}},
		Refs:    []Reference{{Field: "site", Kind: "site", Parent: true}},
		Filters: []string{"site", "auto_renew", "status", "cert_type", "expires_at__lte"}, Search: []string{"domain"}, Called: "domain",
		Quota: certificateQuota, Verbs: Create | Patch | Delete, Writers: Member, New: spec[Certificate],
	},
	{
		Name: "whitelabel", Class: "WhiteLabelConfig", Label: "white label config", Collection: "whitelabel", Alone: true,
		Shown: words("id tenant brand_name logo_url favicon_url primary_color secondary_color sidebar_bg_color sidebar_text_color custom_css " +
			"footer_text footer_url email_from_name email_from_address custom_panel_domain is_active created_at updated_at"),
		Unique: []string{"custom_panel_domain"}, Sets: [][]string{{"tenant"}},
		Personal: []string{"email_from_name", "email_from_address"},
		Filters:  []string{"tenant"}, Search: []string{"brand_name"},
		Verbs: All, Writers: Admin, New: spec[WhiteLabel],
	},
	{
		Name: "proxy", Class: "Proxy", Label: "proxy", Halts: true,
		Unique:  []string{"domain"},
		Refs:    []Reference{{Field: "site", Kind: "site", Parent: true}},
		Writers: Member, New: spec[Proxy],
	},
	{
		Name: "vm", Class: "VM", Label: "vm", Halts: true, Unique: []string{"name"}, Writers: Superuser, New: spec[Machine],
	},
}

// siteDomain is how the parts of a site show which one it is.
var siteDomain = []Name{{Field: "site_domain", Of: "site", Shows: "domain"}}

func words(text string) []string { return strings.Fields(text) }

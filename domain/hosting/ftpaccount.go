package hosting

import "hostpanel/domain/field"

var ftpAccounts = Kind{
	Name: "ftp_account", Class: "FTPAccount", Label: "ftp account", Collection: "ftp-accounts",
	EngineID: "hosting_ftp_user_id", CanBeDisabled: true,
	Nouns:   map[string]string{"en": "FTP account", "es": "cuenta FTP"},
	Plurals: map[string]string{"en": "FTP accounts", "es": "Cuentas FTP"},
	Shown: words("id tenant tenant_name site site_domain username hosting_ftp_user_id directory quota_mb is_active " +
		"sync_status sync_error created_at updated_at"),
	Names:   siteDomain,
	Unique:  []string{"username"},
	Refs:    []Reference{{Field: "site", Kind: "site", Parent: true}},
	Filters: []string{"site", "username"}, Search: []string{"username"}, Called: "username",
	NamedBy: []string{"username"}, Quota: "ftp_accounts", Plan: "quota_ftp_users", Verbs: All, Writers: Member, New: spec[FTPAccount],
}

// An FTPAccount is a login for copying files to and from a site.
type FTPAccount struct {
	Site      int64
	Username  string
	Password  string
	Directory string // below the site
	QuotaMB   int64
	IsActive  bool
}

// Fields are the account.
func (a *FTPAccount) Fields() field.Set {
	return field.Set{
		field.Ref("site", &a.Site).Required().Once(),
		field.Text("username", &a.Username).Required().Is(field.Match(`^[A-Za-z0-9][A-Za-z0-9_.@+-]{0,63}$`)).Once(),
		field.Password("password", &a.Password).Required(),
		field.Text("directory", &a.Directory).Is(field.Path).Default("/").Doc("Below the site."),
		quotaMB(&a.QuotaMB, noQuota),
		field.Flag("is_active", &a.IsActive).Default(true),
	}
}

func (a *FTPAccount) complete(p Place) { completeQuota(&a.QuotaMB, p) }

func (a *FTPAccount) check(p Place, wrong *field.Errors) { checkQuota(a.QuotaMB, p, wrong) }

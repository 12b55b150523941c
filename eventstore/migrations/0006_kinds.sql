-- Numbers of the hosting resources, a row of them for each kind.
create sequence package_id;
create sequence database_id;
create sequence dns_zone_id;
create sequence dns_record_id;
create sequence mail_domain_id;
create sequence mailbox_id;
create sequence mail_alias_id;
create sequence ftp_account_id;
create sequence shell_user_id;
create sequence ssl_certificate_id;
create sequence whitelabel_id;
grant usage on sequence package_id, database_id, dns_zone_id, dns_record_id, mail_domain_id, mailbox_id, mail_alias_id,
	ftp_account_id, shell_user_id, ssl_certificate_id, whitelabel_id to hostpanel_app;

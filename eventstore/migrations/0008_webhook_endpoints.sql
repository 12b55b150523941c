-- Numbers of the endpoints of tenants' webhooks.
create sequence webhook_endpoint_id;
grant usage on sequence webhook_endpoint_id to hostpanel_app;

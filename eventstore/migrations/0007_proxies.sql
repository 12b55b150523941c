-- Numbers of proxies before sites.
create sequence proxy_id;
grant usage on sequence proxy_id to hostpanel_app;

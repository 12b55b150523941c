-- What led to a run, to a check of an order, and to a request for a new password.
alter table saga_run add column cause text not null, add column correlation uuid not null;
alter table payment_watch add column cause text; -- of the first hint; null: none came since the last check
alter table reset_request add column cause text not null;

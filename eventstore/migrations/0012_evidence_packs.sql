-- Evidence packs that were asked for, for a day, so that any process can serve them
-- (docs/audit.md, "Evidence packs"). The row is made with the operation; its file comes
-- later.
create table evidence_packs (
	operation uuid        primary key,
	tenant    bigint,                         -- whose administrators may have it; null: superusers alone
	order_id  uuid,                           -- that it is about; null: something else
	asked_at  timestamptz not null default business_now(),
	subjects  uuid[]      not null default '{}', -- whose texts it opens: erasure deletes it
	events    int         not null default 0,
	size      int         not null default 0,
	file      bytea                           -- the .zip; null: it is not made yet
);
alter table evidence_packs alter column file set storage external; -- it is compressed
create index evidence_packs_order on evidence_packs (order_id, asked_at) where order_id is not null;
create index evidence_packs_asked on evidence_packs (asked_at);
grant select, insert, update, delete on evidence_packs to hostpanel_app;

alter table evidence_packs enable row level security;
alter table evidence_packs force row level security;
create policy reads on evidence_packs for select using ((select sees_all()) or tenant = (select scope_tenant()));
create policy writes on evidence_packs using (is_system());

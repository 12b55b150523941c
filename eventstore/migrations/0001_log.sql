-- The log, and the role that the program works as: it may add facts and read
-- them, never change or remove one. docs/log.md tells the reasons.
do $$
begin
	if not exists (select from pg_roles where rolname = 'hostpanel_app') then
		create role hostpanel_app nologin;
	end if;
exception
	when duplicate_object or unique_violation then null; -- somebody else was faster
	when insufficient_privilege then
		raise exception 'the role hostpanel_app is missing and % may not make it', current_user
			using hint = format('Run as a superuser: create role hostpanel_app nologin; grant hostpanel_app to %I;', current_user);
end $$;
do $$
begin
	if not pg_has_role(current_user, 'hostpanel_app', 'member') then
		execute format('grant hostpanel_app to %I', current_user);
	end if;
exception
	when insufficient_privilege then
		raise exception '% may not work as hostpanel_app', current_user
			using hint = format('Run as a superuser: grant hostpanel_app to %I;', current_user);
end $$;
grant usage on schema public to hostpanel_app;

create table events (
	position    bigint   primary key,
	stream      text     collate "C" not null,
	version     int      not null,
	id          uuid     not null,
	name        text     collate "C" not null,
	schema      smallint not null,
	tenant      bigint,
	actor       text     not null,
	correlation uuid     not null,
	causation   text     collate "C",
	saga        text     not null,
	data        json     not null, -- json, not jsonb: kept byte for byte, as the hash needs it
	meta        json     not null,
	recorded_at timestamptz not null,
	hash        bytea    not null,
	constraint events_stream_version unique (stream, version)
);
-- Only the newest pages are written to, so the table is kept out of the way of
-- the vacuum until there is something to freeze.
grant select, insert on events to hostpanel_app;

create function refuse_change() returns trigger language plpgsql as $$
begin
	raise exception 'the log is append-only: % on % refused', tg_op, tg_table_name using errcode = 'HP002';
end $$;
create trigger events_stay before update or delete on events for each row execute function refuse_change();
create trigger events_stay_all before truncate on events for each statement execute function refuse_change();

-- The time of the fact that a read table is being brought up to date with.
create function recorded_at() returns timestamptz language sql stable as
	$$ select current_setting('hostpanel.recorded_at')::timestamptz $$;

-- Breaks the transaction if a row of an append did not touch what it must.
create function expect_rows(touched bigint, wanted bigint, which int) returns void language plpgsql as $$
begin
	if touched <> wanted then
		raise exception 'row % touched % rows instead of %', which, touched, wanted
			using errcode = 'HP001', detail = which::text;
	end if;
end $$;

-- How far each reader of the log has come.
create table readers (
	name     text primary key,
	position bigint not null default 0
);
-- Facts that a reader could not handle, out of the way of those behind them.
create table poisoned (
	reader    text   not null,
	position  bigint not null,
	reason    text   not null,
	moved_at  timestamptz not null default real_now(),
	primary key (reader, position)
);
grant select, insert, update, delete on readers, poisoned to hostpanel_app;

-- Numbers without gaps are drawn here, inside the transaction that uses them.
create table series (
	name text primary key,
	last bigint not null
);
grant select, insert, update on series to hostpanel_app;

-- Numbers of records; gaps do no harm.
create sequence tenant_id;
create sequence user_id;
create sequence site_id;
create sequence vm_id;
create sequence plan_id;
create sequence widget_id;
grant usage on sequence tenant_id, user_id, site_id, vm_id, plan_id, widget_id to hostpanel_app;

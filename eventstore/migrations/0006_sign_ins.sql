-- What users see of their own sign-ins. The number names one; it opens nothing.
alter table browser_sessions add column id uuid not null default gen_random_uuid();
create unique index on browser_sessions (id);

-- A family shows the same: when it began, when its tokens were replaced last, and the
-- session version of the user under which that was. Earlier families have none.
alter table refresh_families
	add column version    int         not null default 0,
	add column started_at timestamptz not null default real_now(),
	add column seen_at    timestamptz not null default real_now();

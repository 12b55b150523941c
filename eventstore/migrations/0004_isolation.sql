-- Whose rows a transaction may see is asked of the database as well, so that a
-- query that forgot to ask is answered with nothing. docs/security.md,
-- "Row-level security", tells what the settings mean.

-- The program itself, whose transactions span tenants: it alone writes.
create function is_system() returns boolean language sql stable parallel safe as
	$$ select coalesce(current_setting('app.user_id', true) = 'system', false) $$;
-- The program itself, or an operator.
create function sees_all() returns boolean language sql stable parallel safe as
	$$ select coalesce(current_setting('app.tenant_id', true) = 'system', false) $$;
create function scope_tenant() returns bigint language sql stable parallel safe as
	$$ select nullif(nullif(current_setting('app.tenant_id', true), ''), 'system')::bigint $$;
create function scope_user() returns bigint language sql stable parallel safe as
	$$ select nullif(nullif(current_setting('app.user_id', true), ''), 'system')::bigint $$;
create function scope_key_owner() returns bigint language sql stable parallel safe as
	$$ select nullif(nullif(current_setting('app.key_owner', true), ''), 'system')::bigint $$;
-- The tenants that the user is a member of. Not in SQL: the table is a read
-- table, which comes later and is replaced when it is rebuilt.
create function scope_tenants() returns bigint[] language plpgsql stable as $$
begin
	return array(select tenant from public.memberships where user_id = public.scope_user());
end $$;

-- Who reads many rows is asked in sub-selects, which are evaluated once a query
-- and not once a row. Who writes is asked for each row: they are few, and a
-- sub-select costs more than the question.
alter table events enable row level security;
alter table events force row level security;
create policy reads on events for select using ((select sees_all()) or tenant = (select scope_tenant()));
create policy writes on events using (is_system());

-- Secrets, and what belongs to a person without being a fact, are the
-- program's own business.
do $$
declare
	kept text;
begin
	foreach kept in array array[
		'subject_keys', 'subjects', 'once_keys', 'secret_handoff', 'one_time_tokens', 'credentials',
		'refresh_families', 'refresh_tokens', 'browser_sessions'
	] loop
		execute format('alter table %I enable row level security', kept);
		execute format('alter table %I force row level security', kept);
		execute format('create policy writes on %I using (is_system())', kept);
	end loop;
end $$;

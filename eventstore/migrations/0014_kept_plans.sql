-- In PL/pgSQL these functions keep their plans. In SQL they were planned at each call,
-- and are called for each run that is claimed.

create or replace function in_recovery() returns boolean language plpgsql stable as $$
begin
	return exists (select from public.recovery where ended_at is null);
end $$;

create or replace function was_restored(run uuid, of_order uuid) returns boolean language plpgsql stable as $$
begin
	return exists (select from public.recovery) and (
		coalesce((select position from public.events where stream = 'saga-' || run and version = 1) <= (select max(head) from public.recovery), false)
		or coalesce((select position from public.events where stream = 'order-' || of_order and version = 1) <= (
			select max(head) from public.recovery where coalesce(ended_at, real_now()) > real_now() - interval '1 day'), false));
end $$;

create or replace function looks_first() returns boolean language plpgsql stable as $$
begin
	return exists (select from public.recovery where coalesce(ended_at, real_now()) > real_now() - interval '30 days');
end $$;

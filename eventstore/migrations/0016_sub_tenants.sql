-- The tenant for which the user acts, if the user is an administrator of it (docs/security.md,
-- "Row-level security"). Not in SQL, as scope_tenants is not.
create function scope_administered() returns bigint language plpgsql stable as $$
begin
	return (select tenant from public.memberships where user_id = public.scope_user() and tenant = public.scope_tenant() and role = 'admin');
end $$;

-- Whether a sign-in has ended is asked along with what a call reads, in the
-- caller's scope. Sign-ins that go on stay the program's own business.
create policy reads on refresh_families for select using (revoked_at is not null);

-- Sessions of browsers that their users chose to keep (docs/security.md, "Browser sessions").
alter table browser_sessions add column stays boolean not null default false; -- true: it ends by its age alone

-- Every event says what led to it (docs/log.md, "Causes").
alter table events alter column causation set not null;

-- Sessions on which a card is added without a payment (docs/adapters.md, "The test provider").

alter table test_payments.sessions add column setup boolean not null default false;

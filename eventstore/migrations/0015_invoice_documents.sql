-- The documents of invoices and credit notes, as they were written once, each sealed with
-- the fiscal key of its buyer (docs/invoices.md, "Stored documents"). The event
-- billing.document_made of the same transaction has the hash of the bytes.
create table invoice_documents (
	number  text  collate "C" not null, -- of the invoice or the credit note
	format  text  collate "C" not null, -- html, pdf, xml
	invoice uuid  not null,
	subject uuid  not null,             -- whose fiscal key opens it
	sealed  bytea not null,
	primary key (number, format)
);
alter table invoice_documents alter column sealed set storage external; -- it cannot be compressed
create index invoice_documents_subject on invoice_documents (subject);
grant select, insert on invoice_documents to hostpanel_app;

alter table invoice_documents enable row level security;
alter table invoice_documents force row level security;
create policy writes on invoice_documents using (is_system());

CREATE TABLE "invoice_notes" (
	"owner_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"invoice_id" uuid NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"person_id" uuid,
	"program" text,
	"text" text NOT NULL,
	CONSTRAINT "invoice_notes_owner_id_id_pk" PRIMARY KEY("owner_id","id"),
	CONSTRAINT "invoice_notes_text" CHECK (char_length("invoice_notes"."text") <= 2000)
);
--> statement-breakpoint
ALTER TABLE "audit_entries" ADD COLUMN "person_id" uuid;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD COLUMN "program" text;--> statement-breakpoint
ALTER TABLE "invoice_changes" ADD COLUMN "person_id" uuid;--> statement-breakpoint
ALTER TABLE "invoice_changes" ADD COLUMN "program" text;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_notes" ADD CONSTRAINT "invoice_notes_owner_id_invoice_id_invoices_owner_id_id_fk" FOREIGN KEY ("owner_id","invoice_id") REFERENCES "public"."invoices"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invoice_notes_invoice" ON "invoice_notes" USING btree ("owner_id","invoice_id");
--> statement-breakpoint
-- What people set, and not what midnight does: an unpaid invoice that is past due by its own last change becomes overdue.
CREATE FUNCTION "raise_invoice_version"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW."version" := OLD."version" + 1;
	RETURN NEW;
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "invoices_version" BEFORE UPDATE ON "invoices" FOR EACH ROW
	WHEN ((NEW."client_name", NEW."client_email", NEW."amount_minor", NEW."currency", NEW."language", NEW."issued_on", NEW."due_date", NEW."reference")
		IS DISTINCT FROM (OLD."client_name", OLD."client_email", OLD."amount_minor", OLD."currency", OLD."language", OLD."issued_on", OLD."due_date", OLD."reference")
		OR (NEW."status" <> OLD."status" AND NOT (OLD."status" = 'unpaid' AND NEW."status" = 'overdue' AND NOT OLD."kept_unpaid"
			AND NEW."due_date" <= (NEW."updated_at" AT TIME ZONE 'UTC')::date)))
	EXECUTE FUNCTION "raise_invoice_version"();
--> statement-breakpoint
CREATE FUNCTION "keep_invoice_notes"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'A note is never edited.' USING ERRCODE = 'integrity_constraint_violation';
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "invoice_notes_keep" BEFORE UPDATE ON "invoice_notes" FOR EACH ROW EXECUTE FUNCTION "keep_invoice_notes"();

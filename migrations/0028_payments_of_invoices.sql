CREATE TABLE "invoice_payments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"invoice_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"origin" text NOT NULL,
	"amount_minor" bigint NOT NULL,
	"paid_on" date NOT NULL,
	"method" text,
	"reference" text DEFAULT '' NOT NULL,
	"note" text DEFAULT '' NOT NULL,
	"provider_id" text,
	"bank_line_hash" text,
	"batch_id" uuid,
	"request_key" text,
	"request_hash" text,
	"recorded_at" timestamp with time zone NOT NULL,
	"voided_at" timestamp with time zone,
	CONSTRAINT "invoice_payments_owner_id" UNIQUE("owner_id","id"),
	CONSTRAINT "invoice_payments_amount" CHECK ("invoice_payments"."amount_minor" > 0),
	CONSTRAINT "invoice_payments_texts" CHECK (char_length("invoice_payments"."reference") <= 80 AND char_length("invoice_payments"."note") <= 500)
);
--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "paid_minor" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "paid_on" date;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "pause_because" text DEFAULT 'owner' NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_payments" ADD CONSTRAINT "invoice_payments_owner_id_invoice_id_invoices_owner_id_id_fk" FOREIGN KEY ("owner_id","invoice_id") REFERENCES "public"."invoices"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invoice_payments_invoice" ON "invoice_payments" USING btree ("owner_id","invoice_id");--> statement-breakpoint
CREATE INDEX "invoice_payments_paid_on" ON "invoice_payments" USING btree ("owner_id","paid_on");--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_payments_request" ON "invoice_payments" USING btree ("owner_id","request_key") WHERE "invoice_payments"."request_key" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_payments_provider" ON "invoice_payments" USING btree ("owner_id","invoice_id","provider_id") WHERE "invoice_payments"."provider_id" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_payments_bank_line" ON "invoice_payments" USING btree ("owner_id","bank_line_hash") WHERE "invoice_payments"."bank_line_hash" IS NOT NULL AND "invoice_payments"."voided_at" IS NULL;
--> statement-breakpoint
-- Until now an invoice was paid in full or not at all: what was marked as paid, also what was deleted since, gets a payment of that day.
INSERT INTO "invoice_payments" ("id", "owner_id", "invoice_id", "kind", "origin", "amount_minor", "paid_on", "recorded_at")
SELECT gen_random_uuid(), i."owner_id", i."id", 'payment', 'marked', i."amount_minor",
	(coalesce(i."paid_at", i."updated_at") AT TIME ZONE a."timezone")::date, coalesce(i."paid_at", i."updated_at")
FROM "invoices" i JOIN "accounts" a ON a."id" = i."owner_id" WHERE i."status" = 'paid';
--> statement-breakpoint
UPDATE "invoices" i SET "paid_minor" = i."amount_minor", "paid_on" = p."paid_on" FROM "invoice_payments" p WHERE p."invoice_id" = i."id";
--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_paid" CHECK (("invoices"."status" = 'paid') = ("invoices"."paid_minor" >= "invoices"."amount_minor") AND "invoices"."paid_minor" >= 0);
--> statement-breakpoint
-- What an invoice names as paid must be what its rows sum up to, however they were written.
CREATE FUNCTION "compare_paid"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	about uuid;
	named bigint;
	summed bigint;
BEGIN
	IF TG_TABLE_NAME = 'invoices' THEN
		about := NEW."id";
	ELSIF TG_OP = 'DELETE' THEN
		about := OLD."invoice_id";
	ELSE
		about := NEW."invoice_id";
	END IF;
	SELECT i."paid_minor", (
		SELECT coalesce(sum(CASE p."kind" WHEN 'refund' THEN -p."amount_minor" ELSE p."amount_minor" END), 0)
		FROM "invoice_payments" p WHERE p."owner_id" = i."owner_id" AND p."invoice_id" = i."id" AND p."voided_at" IS NULL)
	INTO named, summed FROM "invoices" i WHERE i."id" = about;
	IF named <> summed THEN
		RAISE EXCEPTION 'The invoice % names % as paid, its payments sum up to %.', about, named, summed
			USING ERRCODE = 'check_violation', CONSTRAINT = 'invoices_paid_rows';
	END IF;
	RETURN NULL;
END;
$$;
--> statement-breakpoint
CREATE FUNCTION "keep_payments"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'A payment is never edited: void it, and record another.' USING ERRCODE = 'integrity_constraint_violation';
END;
$$;
--> statement-breakpoint
CREATE FUNCTION "tell_of_payment"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	event text := CASE TG_OP WHEN 'INSERT' THEN 'payment.recorded' ELSE 'payment.voided' END;
BEGIN
	IF "is_listened_to"(NEW."owner_id", event) THEN
		INSERT INTO "hook_events" ("id", "owner_id", "type", "happened_at", "facts")
		SELECT gen_random_uuid(), NEW."owner_id", event, coalesce(NEW."voided_at", NEW."recorded_at"), jsonb_build_object(
			'payment', to_jsonb(NEW) - 'request_key' - 'request_hash' - 'bank_line_hash', 'invoice', to_jsonb(i),
			'pauses', "client_pauses_of"(NEW."owner_id", ARRAY[i."client_email"]),
			'holds', "address_holds_of"(NEW."owner_id", ARRAY[i."client_email"]))
		FROM "invoices" i WHERE i."id" = NEW."invoice_id";
	END IF;
	RETURN NULL;
END;
$$;
--> statement-breakpoint
-- A paid invoice that is owed again because a payment was taken back did not become overdue now.
DROP TRIGGER "invoices_tell_status" ON "invoices";
--> statement-breakpoint
CREATE TRIGGER "invoices_tell_status" AFTER UPDATE OF "status" ON "invoices" FOR EACH ROW
	WHEN (NEW."deleted_at" IS NULL AND NEW."status" <> OLD."status" AND (NEW."status" = 'paid' OR
		(NEW."status" = 'overdue' AND coalesce(current_setting('duely.reopened', true), '') <> 'on')))
	EXECUTE FUNCTION "tell_of_invoice"();
--> statement-breakpoint
CREATE TRIGGER "invoice_payments_keep" BEFORE UPDATE ON "invoice_payments" FOR EACH ROW
	WHEN (OLD."voided_at" IS NOT NULL OR to_jsonb(OLD) - 'voided_at' <> to_jsonb(NEW) - 'voided_at') EXECUTE FUNCTION "keep_payments"();
--> statement-breakpoint
CREATE TRIGGER "invoice_payments_tell_recorded" AFTER INSERT ON "invoice_payments" FOR EACH ROW EXECUTE FUNCTION "tell_of_payment"();
--> statement-breakpoint
CREATE TRIGGER "invoice_payments_tell_voided" AFTER UPDATE OF "voided_at" ON "invoice_payments" FOR EACH ROW
	WHEN (OLD."voided_at" IS NULL AND NEW."voided_at" IS NOT NULL) EXECUTE FUNCTION "tell_of_payment"();
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER "invoices_compare_created" AFTER INSERT ON "invoices" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
	WHEN (NEW."paid_minor" <> 0) EXECUTE FUNCTION "compare_paid"();
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER "invoices_compare_paid" AFTER UPDATE OF "paid_minor" ON "invoices" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
	WHEN (NEW."paid_minor" <> OLD."paid_minor") EXECUTE FUNCTION "compare_paid"();
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER "invoice_payments_compare" AFTER INSERT OR UPDATE OR DELETE ON "invoice_payments" DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION "compare_paid"();

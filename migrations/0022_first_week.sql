CREATE TABLE "address_holds" (
	"owner_id" uuid NOT NULL,
	"client_key" text NOT NULL,
	"held_since" timestamp with time zone NOT NULL,
	"reply" text NOT NULL,
	CONSTRAINT "address_holds_owner_id_client_key_pk" PRIMARY KEY("owner_id","client_key")
);
--> statement-breakpoint
DROP INDEX "notices_newest";--> statement-breakpoint
-- Each existing notice is a cause of its own.
ALTER TABLE "notices" ADD COLUMN "cause" text;--> statement-breakpoint
ALTER TABLE "notices" ADD COLUMN "summary" text;--> statement-breakpoint
ALTER TABLE "notices" ADD COLUMN "clients" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "notices" ADD COLUMN "updated_at" timestamp with time zone;--> statement-breakpoint
UPDATE "notices" SET "cause" = "id"::text, "summary" = "title", "updated_at" = "created_at";--> statement-breakpoint
ALTER TABLE "notices" ALTER COLUMN "cause" SET NOT NULL, ALTER COLUMN "summary" SET NOT NULL, ALTER COLUMN "updated_at" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "kept_unpaid" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "undelivered_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "undelivered_reply" text;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "last_message_id" text;--> statement-breakpoint
ALTER TABLE "delivery_invoices" ADD COLUMN "amount_minor" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "subject" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "content" text;--> statement-breakpoint
ALTER TABLE "address_holds" ADD CONSTRAINT "address_holds_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "notices_cause" ON "notices" USING btree ("owner_id","kind","cause");--> statement-breakpoint
CREATE INDEX "notices_newest" ON "notices" USING btree ("owner_id","updated_at" DESC NULLS LAST);--> statement-breakpoint
-- An unpaid invoice that the midnight job has passed was set to unpaid by a person, unless it was past due when it was created, or its due
-- date passed while it was deleted.
UPDATE "invoices" i SET "kept_unpaid" = true FROM "accounts" a
WHERE a."id" = i."owner_id" AND i."status" = 'unpaid' AND NOT i."awaits_overdue" AND i."due_date" < a."overdue_through"
	AND i."due_date" >= (i."created_at" AT TIME ZONE a."timezone")::date
	AND (i."deleted_at" IS NULL OR i."due_date" < (i."deleted_at" AT TIME ZONE a."timezone")::date);--> statement-breakpoint
ALTER TABLE "accounts" DROP COLUMN "overdue_through";--> statement-breakpoint
ALTER TABLE "invoices" DROP COLUMN "awaits_overdue";--> statement-breakpoint
-- A hold of a client's address belongs to what an invoice is, as a pause does.
CREATE FUNCTION "address_holds_of"(owner uuid, emails text[]) RETURNS jsonb LANGUAGE sql STABLE AS $$
	SELECT coalesce(jsonb_agg(to_jsonb(h)), '[]') FROM "address_holds" h
	WHERE h."owner_id" = owner AND h."client_key" IN (SELECT lower(email) FROM unnest(emails) AS email);
$$;
--> statement-breakpoint
-- An invoice that is overdue from the start becomes overdue when it is created: two events.
CREATE OR REPLACE FUNCTION "tell_of_invoice"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	event text;
	happened text[] := CASE
		WHEN TG_OP = 'INSERT' AND NEW."status" = 'overdue' THEN ARRAY['invoice.created', 'invoice.overdue']
		WHEN TG_OP = 'INSERT' THEN ARRAY['invoice.created']
		WHEN NEW."status" = 'paid' THEN ARRAY['invoice.paid']
		ELSE ARRAY['invoice.overdue']
	END;
BEGIN
	FOREACH event IN ARRAY happened LOOP
		IF "is_listened_to"(NEW."owner_id", event) THEN
			INSERT INTO "hook_events" ("id", "owner_id", "type", "happened_at", "facts")
			VALUES (gen_random_uuid(), NEW."owner_id", event, NEW."updated_at", jsonb_build_object(
				'invoice', to_jsonb(NEW), 'pauses', "client_pauses_of"(NEW."owner_id", ARRAY[NEW."client_email"]),
				'holds', "address_holds_of"(NEW."owner_id", ARRAY[NEW."client_email"])));
		END IF;
	END LOOP;
	RETURN NULL;
END;
$$;
--> statement-breakpoint
DROP TRIGGER "invoices_tell_status" ON "invoices";
--> statement-breakpoint
CREATE TRIGGER "invoices_tell_status" AFTER UPDATE OF "status" ON "invoices" FOR EACH ROW
	WHEN (NEW."deleted_at" IS NULL AND NEW."status" <> OLD."status" AND NEW."status" IN ('paid', 'overdue'))
	EXECUTE FUNCTION "tell_of_invoice"();
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "tell_of_delivery"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	event text := 'reminder.' || NEW."state";
BEGIN
	IF "is_listened_to"(NEW."owner_id", event) THEN
		INSERT INTO "hook_events" ("id", "owner_id", "type", "happened_at", "facts")
		SELECT gen_random_uuid(), NEW."owner_id", event, NEW."sent_at", jsonb_build_object(
			'delivery', jsonb_build_object('id', NEW."id", 'run_id', NEW."run_id", 'kind', (SELECT r."kind" FROM "runs" r WHERE r."id" = NEW."run_id"),
				'client_email', NEW."client_email", 'subject', NEW."subject", 'attempt', NEW."attempt", 'sent_at', NEW."sent_at",
				'server_reply', NEW."server_reply"),
			'invoices', coalesce(jsonb_agg(to_jsonb(i) ORDER BY i."due_date", i."id"), '[]'),
			'pauses', "client_pauses_of"(NEW."owner_id", array_agg(i."client_email")),
			'holds', "address_holds_of"(NEW."owner_id", array_agg(i."client_email")))
		FROM "delivery_invoices" di JOIN "invoices" i ON i."id" = di."invoice_id" WHERE di."delivery_id" = NEW."id";
	END IF;
	RETURN NULL;
END;
$$;

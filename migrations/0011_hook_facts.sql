CREATE INDEX "hook_deliveries_waiting" ON "hook_deliveries" USING btree ("hook_id","next_try_at","id") WHERE "hook_deliveries"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX "hook_deliveries_newest" ON "hook_deliveries" USING btree ("hook_id","id");--> statement-breakpoint
CREATE INDEX "hook_events_happened" ON "hook_events" USING btree ("happened_at");--> statement-breakpoint
-- A client's pause belongs to what an invoice is: it is written down as it was, too.
CREATE FUNCTION "client_pauses_of"(owner uuid, emails text[]) RETURNS jsonb LANGUAGE sql STABLE AS $$
	SELECT coalesce(jsonb_agg(to_jsonb(p)), '[]') FROM "client_pauses" p
	WHERE p."owner_id" = owner AND p."client_key" IN (SELECT lower(email) FROM unnest(emails) AS email);
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "tell_of_invoice"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	event text := CASE
		WHEN TG_OP = 'INSERT' THEN 'invoice.created'
		WHEN NEW."status" = 'paid' THEN 'invoice.paid'
		ELSE 'invoice.overdue'
	END;
BEGIN
	IF "is_listened_to"(NEW."owner_id", event) THEN
		INSERT INTO "hook_events" ("id", "owner_id", "type", "happened_at", "facts")
		VALUES (gen_random_uuid(), NEW."owner_id", event, NEW."updated_at", jsonb_build_object(
			'invoice', to_jsonb(NEW), 'pauses', "client_pauses_of"(NEW."owner_id", ARRAY[NEW."client_email"])));
	END IF;
	RETURN NULL;
END;
$$;
--> statement-breakpoint
-- What was paid and is overdue again was a mistake that somebody took back: it did not become overdue.
DROP TRIGGER "invoices_tell_status" ON "invoices";
--> statement-breakpoint
CREATE TRIGGER "invoices_tell_status" AFTER UPDATE OF "status" ON "invoices" FOR EACH ROW
	WHEN (NEW."deleted_at" IS NULL AND (
		(NEW."status" = 'paid' AND OLD."status" <> 'paid') OR (NEW."status" = 'overdue' AND OLD."status" = 'unpaid')))
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
			'pauses', "client_pauses_of"(NEW."owner_id", array_agg(i."client_email")))
		FROM "delivery_invoices" di JOIN "invoices" i ON i."id" = di."invoice_id" WHERE di."delivery_id" = NEW."id";
	END IF;
	RETURN NULL;
END;
$$;

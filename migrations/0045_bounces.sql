ALTER TABLE "deliveries" ADD COLUMN "bounced_at" timestamp with time zone;--> statement-breakpoint
-- The event is that of the trigger, where it names one.
CREATE OR REPLACE FUNCTION "tell_of_delivery"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	event text := 'reminder.' || coalesce(TG_ARGV[0], NEW."state");
BEGIN
	IF "is_listened_to"(NEW."owner_id", event) THEN
		INSERT INTO "hook_events" ("id", "owner_id", "type", "happened_at", "facts")
		SELECT gen_random_uuid(), NEW."owner_id", event, CASE WHEN TG_NARGS > 0 THEN NEW."bounced_at" ELSE NEW."sent_at" END, jsonb_build_object(
			'delivery', jsonb_build_object('id', NEW."id", 'run_id', NEW."run_id", 'kind', (SELECT r."kind" FROM "runs" r WHERE r."id" = NEW."run_id"),
				'client_email', NEW."client_email", 'subject', NEW."subject", 'attempt', NEW."attempt", 'sent_at', NEW."sent_at",
				'server_reply', NEW."server_reply", 'sequence_id', NEW."sequence_id", 'step_offset', NEW."step_offset"),
			'invoices', coalesce(jsonb_agg(to_jsonb(i) ORDER BY i."due_date", i."id"), '[]'),
			'invoice_count', (SELECT count(*) FROM "delivery_invoices" n WHERE n."delivery_id" = NEW."id"),
			'pauses', "client_pauses_of"(NEW."owner_id", array_agg(i."client_email")),
			'holds', "address_holds_of"(NEW."owner_id", array_agg(i."client_email")))
		FROM (
			SELECT v.* FROM "delivery_invoices" di JOIN "invoices" v ON v."id" = di."invoice_id" WHERE di."delivery_id" = NEW."id"
			ORDER BY v."due_date", v."id" LIMIT 200) i;
	END IF;
	RETURN NULL;
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "deliveries_tell_bounce" AFTER UPDATE OF "bounced_at" ON "deliveries" FOR EACH ROW
	WHEN (OLD."bounced_at" IS NULL AND NEW."bounced_at" IS NOT NULL)
	EXECUTE FUNCTION "tell_of_delivery"('bounced');

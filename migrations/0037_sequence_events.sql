-- An email has its sequence and step.
CREATE OR REPLACE FUNCTION "tell_of_delivery"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	event text := 'reminder.' || NEW."state";
BEGIN
	IF "is_listened_to"(NEW."owner_id", event) THEN
		INSERT INTO "hook_events" ("id", "owner_id", "type", "happened_at", "facts")
		SELECT gen_random_uuid(), NEW."owner_id", event, NEW."sent_at", jsonb_build_object(
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
CREATE FUNCTION "tell_of_sequence_end"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF "is_listened_to"(NEW."owner_id", 'sequence.ended') THEN
		INSERT INTO "hook_events" ("id", "owner_id", "type", "happened_at", "facts")
		VALUES (gen_random_uuid(), NEW."owner_id", 'sequence.ended', NEW."updated_at", jsonb_build_object(
			'invoice', to_jsonb(NEW), 'pauses', "client_pauses_of"(NEW."owner_id", ARRAY[NEW."client_email"]),
			'holds', "address_holds_of"(NEW."owner_id", ARRAY[NEW."client_email"])));
	END IF;
	RETURN NULL;
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "invoices_tell_sequence_end" AFTER UPDATE OF "sequence_ended_on" ON "invoices" FOR EACH ROW
	WHEN (OLD."sequence_ended_on" IS NULL AND NEW."sequence_ended_on" IS NOT NULL)
	EXECUTE FUNCTION "tell_of_sequence_end"();

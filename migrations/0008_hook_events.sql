-- What others are told of is written down by the transaction in which it happens, whoever writes it, and only for accounts that somebody listens to.
CREATE FUNCTION "is_listened_to"(owner uuid, event text) RETURNS boolean LANGUAGE sql STABLE AS $$
	SELECT EXISTS (SELECT 1 FROM "hooks" h WHERE h."owner_id" = owner AND event = ANY(h."events"));
$$;
--> statement-breakpoint
CREATE FUNCTION "tell_of_invoice"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	event text := CASE
		WHEN TG_OP = 'INSERT' THEN 'invoice.created'
		WHEN NEW."status" = 'paid' THEN 'invoice.paid'
		ELSE 'invoice.overdue'
	END;
BEGIN
	IF "is_listened_to"(NEW."owner_id", event) THEN
		INSERT INTO "hook_events" ("id", "owner_id", "type", "happened_at", "facts")
		VALUES (gen_random_uuid(), NEW."owner_id", event, NEW."updated_at", jsonb_build_object('invoice', to_jsonb(NEW)));
	END IF;
	RETURN NULL;
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "invoices_tell_created" AFTER INSERT ON "invoices" FOR EACH ROW EXECUTE FUNCTION "tell_of_invoice"();
--> statement-breakpoint
CREATE TRIGGER "invoices_tell_status" AFTER UPDATE OF "status" ON "invoices" FOR EACH ROW
	WHEN (NEW."status" IS DISTINCT FROM OLD."status" AND NEW."status" IN ('paid', 'overdue') AND NEW."deleted_at" IS NULL)
	EXECUTE FUNCTION "tell_of_invoice"();
--> statement-breakpoint
CREATE FUNCTION "tell_of_delivery"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	event text := 'reminder.' || NEW."state";
BEGIN
	IF "is_listened_to"(NEW."owner_id", event) THEN
		INSERT INTO "hook_events" ("id", "owner_id", "type", "happened_at", "facts")
		SELECT gen_random_uuid(), NEW."owner_id", event, NEW."sent_at", jsonb_build_object(
			'delivery', jsonb_build_object('id', NEW."id", 'run_id', NEW."run_id", 'kind', (SELECT r."kind" FROM "runs" r WHERE r."id" = NEW."run_id"),
				'client_email', NEW."client_email", 'subject', NEW."subject", 'attempt', NEW."attempt", 'sent_at', NEW."sent_at",
				'server_reply', NEW."server_reply"),
			'invoices', coalesce((SELECT jsonb_agg(to_jsonb(i) ORDER BY i."due_date", i."id") FROM "delivery_invoices" di
				JOIN "invoices" i ON i."id" = di."invoice_id" WHERE di."delivery_id" = NEW."id"), '[]'));
	END IF;
	RETURN NULL;
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "deliveries_tell" AFTER UPDATE OF "state" ON "deliveries" FOR EACH ROW
	WHEN (NEW."state" IS DISTINCT FROM OLD."state" AND NEW."state" IN ('sent', 'failed'))
	EXECUTE FUNCTION "tell_of_delivery"();

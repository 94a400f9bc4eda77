CREATE FUNCTION "tell_of_broken_promise"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF "is_listened_to"(NEW."owner_id", 'promise.broken') THEN
		INSERT INTO "hook_events" ("id", "owner_id", "type", "happened_at", "facts")
		VALUES (gen_random_uuid(), NEW."owner_id", 'promise.broken', NEW."updated_at", jsonb_build_object(
			'invoice', to_jsonb(NEW), 'pauses', "client_pauses_of"(NEW."owner_id", ARRAY[NEW."client_email"]),
			'holds', "address_holds_of"(NEW."owner_id", ARRAY[NEW."client_email"])));
	END IF;
	RETURN NULL;
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "invoices_tell_broken_promise" AFTER UPDATE OF "promised_until" ON "invoices" FOR EACH ROW
	WHEN (NEW."promised_until" IS NOT NULL AND NEW."promised_until" IS DISTINCT FROM OLD."promised_until")
	EXECUTE FUNCTION "tell_of_broken_promise"();

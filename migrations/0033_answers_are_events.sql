-- A payment goes with its invoice only, when the account is deleted.
CREATE OR REPLACE FUNCTION "keep_payments"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT 1 FROM "invoices" i WHERE i."id" = OLD."invoice_id") THEN
		RETURN OLD;
	END IF;
	RAISE EXCEPTION 'A payment is never edited or deleted: void it, and record another.' USING ERRCODE = 'integrity_constraint_violation';
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "invoice_payments_keep_rows" BEFORE DELETE ON "invoice_payments" FOR EACH ROW EXECUTE FUNCTION "keep_payments"();
--> statement-breakpoint
CREATE FUNCTION "tell_of_answer"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF "is_listened_to"(NEW."owner_id", 'client.answered') THEN
		INSERT INTO "hook_events" ("id", "owner_id", "type", "happened_at", "facts")
		SELECT gen_random_uuid(), NEW."owner_id", 'client.answered', NEW."at", jsonb_build_object(
			'answer', to_jsonb(NEW), 'invoice', to_jsonb(i),
			'pauses', "client_pauses_of"(NEW."owner_id", ARRAY[i."client_email"]),
			'holds', "address_holds_of"(NEW."owner_id", ARRAY[i."client_email"]))
		FROM "invoices" i WHERE i."id" = NEW."invoice_id";
	END IF;
	RETURN NULL;
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "pay_answers_tell" AFTER INSERT ON "pay_answers" FOR EACH ROW EXECUTE FUNCTION "tell_of_answer"();

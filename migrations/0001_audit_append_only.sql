CREATE FUNCTION "keep_audit_entries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	-- A foreign key deletes the entries of an account that is gone already: that is the one way.
	IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT 1 FROM "accounts" WHERE "id" = OLD."owner_id") THEN
		RETURN OLD;
	END IF;
	RAISE EXCEPTION 'The audit log is only ever added to.' USING ERRCODE = 'integrity_constraint_violation';
END $$;--> statement-breakpoint
CREATE TRIGGER "audit_entries_append_only" BEFORE UPDATE OR DELETE ON "audit_entries" FOR EACH ROW EXECUTE FUNCTION "keep_audit_entries"();

ALTER TABLE "invoices" ADD COLUMN "issued_on" date;
--> statement-breakpoint
UPDATE "invoices" i SET "issued_on" = (i."created_at" AT TIME ZONE a."timezone")::date FROM "accounts" a WHERE a."id" = i."owner_id";
--> statement-breakpoint
ALTER TABLE "invoices" ALTER COLUMN "issued_on" SET NOT NULL;
--> statement-breakpoint
-- A process of an earlier release, running beside this one, knows no such column.
CREATE FUNCTION "date_invoice"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW."issued_on" := (SELECT (NEW."created_at" AT TIME ZONE a."timezone")::date FROM "accounts" a WHERE a."id" = NEW."owner_id");
	RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER "invoices_date" BEFORE INSERT ON "invoices" FOR EACH ROW WHEN (NEW."issued_on" IS NULL) EXECUTE FUNCTION "date_invoice"();
--> statement-breakpoint
CREATE INDEX "invoices_issued" ON "invoices" USING btree ("owner_id","issued_on")
	INCLUDE ("due_date","paid_on","currency","amount_minor","paid_minor","status") WHERE "deleted_at" IS NULL;

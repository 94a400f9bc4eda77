ALTER TABLE "invoices" ADD COLUMN "imported_as" text;--> statement-breakpoint
CREATE INDEX "invoices_imported_as" ON "invoices" USING btree ("owner_id","source","imported_as") WHERE "invoices"."imported_as" IS NOT NULL;--> statement-breakpoint
UPDATE "invoices" i SET "imported_as" = c."before" FROM (
  SELECT DISTINCT ON ("owner_id", "invoice_id") "owner_id", "invoice_id", "before" FROM "invoice_changes" WHERE "field" = 'reference'
  ORDER BY "owner_id", "invoice_id", "id") c
WHERE i."owner_id" = c."owner_id" AND i."id" = c."invoice_id" AND i."source" IS NOT NULL AND i."reference" <> c."before";

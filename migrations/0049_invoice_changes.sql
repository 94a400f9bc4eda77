CREATE TABLE "invoice_changes" (
	"owner_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"invoice_id" uuid NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"import_id" uuid,
	"field" text NOT NULL,
	"before" text,
	"after" text,
	"undone_at" timestamp with time zone,
	CONSTRAINT "invoice_changes_owner_id_id_pk" PRIMARY KEY("owner_id","id")
);
--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "source" text;--> statement-breakpoint
ALTER TABLE "invoice_changes" ADD CONSTRAINT "invoice_changes_owner_id_invoice_id_invoices_owner_id_id_fk" FOREIGN KEY ("owner_id","invoice_id") REFERENCES "public"."invoices"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invoice_changes_import" ON "invoice_changes" USING btree ("owner_id","import_id");--> statement-breakpoint
CREATE INDEX "invoice_changes_invoice" ON "invoice_changes" USING btree ("owner_id","invoice_id");--> statement-breakpoint
CREATE INDEX "invoices_source" ON "invoices" USING btree ("owner_id","source") WHERE "invoices"."source" IS NOT NULL;
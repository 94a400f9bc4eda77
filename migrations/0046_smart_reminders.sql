CREATE TABLE "smart_choices" (
	"owner_id" uuid NOT NULL,
	"invoice_id" uuid NOT NULL,
	"step_date" date NOT NULL,
	"day" date NOT NULL,
	"p" double precision NOT NULL,
	"reason" jsonb NOT NULL,
	CONSTRAINT "smart_choices_invoice_id_step_date_pk" PRIMARY KEY("invoice_id","step_date")
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "smart" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "smart_days" integer DEFAULT 5 NOT NULL;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "smart_credit" double precision DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "clients" ADD COLUMN "smart" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "smart" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "smart_choices" ADD CONSTRAINT "smart_choices_owner_id_invoice_id_invoices_owner_id_id_fk" FOREIGN KEY ("owner_id","invoice_id") REFERENCES "public"."invoices"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "smart_choices_owner" ON "smart_choices" USING btree ("owner_id");
CREATE TABLE "invoice_files" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"invoice_id" uuid NOT NULL,
	"name" text NOT NULL,
	"size" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"file" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "pay_answers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"invoice_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"date" date,
	"amount_minor" bigint,
	"reference" text DEFAULT '' NOT NULL,
	"message" text DEFAULT '' NOT NULL,
	"name" text DEFAULT '' NOT NULL,
	"email" text DEFAULT '' NOT NULL,
	"state" text NOT NULL,
	"paused_from" date,
	"paused_until" date,
	"closed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "pay_links" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"invoice_id" uuid,
	"client_key" text NOT NULL,
	"token_hash" text,
	"sealed_token" text,
	"revision" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "pay_links_token" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "payment_logos" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"type" text NOT NULL,
	"image" "bytea" NOT NULL,
	CONSTRAINT "payment_logos_owner" UNIQUE("owner_id")
);
--> statement-breakpoint
CREATE TABLE "payment_settings" (
	"owner_id" uuid PRIMARY KEY NOT NULL,
	"version" integer NOT NULL,
	"upi" jsonb,
	"bank" jsonb,
	"own_link" jsonb,
	"in_emails" boolean NOT NULL,
	"pdf" text NOT NULL,
	"business_name" text NOT NULL,
	"details" text NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "file_id" uuid;--> statement-breakpoint
ALTER TABLE "invoice_files" ADD CONSTRAINT "invoice_files_owner_id_invoice_id_invoices_owner_id_id_fk" FOREIGN KEY ("owner_id","invoice_id") REFERENCES "public"."invoices"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pay_answers" ADD CONSTRAINT "pay_answers_owner_id_invoice_id_invoices_owner_id_id_fk" FOREIGN KEY ("owner_id","invoice_id") REFERENCES "public"."invoices"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pay_links" ADD CONSTRAINT "pay_links_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pay_links" ADD CONSTRAINT "pay_links_owner_id_invoice_id_invoices_owner_id_id_fk" FOREIGN KEY ("owner_id","invoice_id") REFERENCES "public"."invoices"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_logos" ADD CONSTRAINT "payment_logos_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_settings" ADD CONSTRAINT "payment_settings_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invoice_files_invoice" ON "invoice_files" USING btree ("owner_id","invoice_id");--> statement-breakpoint
CREATE INDEX "invoice_files_created" ON "invoice_files" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "pay_answers_newest" ON "pay_answers" USING btree ("owner_id","at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "pay_answers_invoice" ON "pay_answers" USING btree ("owner_id","invoice_id","at" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "pay_answers_one_open" ON "pay_answers" USING btree ("invoice_id") WHERE "pay_answers"."state" = 'open';--> statement-breakpoint
CREATE INDEX "pay_links_owner" ON "pay_links" USING btree ("owner_id","invoice_id");--> statement-breakpoint
CREATE UNIQUE INDEX "pay_links_invoice" ON "pay_links" USING btree ("invoice_id") WHERE "pay_links"."invoice_id" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "pay_links_client" ON "pay_links" USING btree ("owner_id","client_key") WHERE "pay_links"."invoice_id" IS NULL;
CREATE TABLE "pay_attempt_invoices" (
	"owner_id" uuid NOT NULL,
	"attempt_id" uuid NOT NULL,
	"invoice_id" uuid NOT NULL,
	"place" integer NOT NULL,
	"amount_minor" bigint NOT NULL,
	"balance_minor" bigint NOT NULL,
	CONSTRAINT "pay_attempt_invoices_attempt_id_invoice_id_pk" PRIMARY KEY("attempt_id","invoice_id")
);
--> statement-breakpoint
CREATE TABLE "pay_attempts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"link_id" uuid,
	"amount_minor" bigint NOT NULL,
	"state" text NOT NULL,
	"provider_id" text,
	"url" text,
	"key_id" text NOT NULL,
	"sealed_secret" text,
	"started_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"hold_until" timestamp with time zone NOT NULL,
	"cancel_wanted" boolean DEFAULT false NOT NULL,
	"next_ask_at" timestamp with time zone,
	"wakes" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"paid_at" timestamp with time zone,
	"payment_ids" text[] DEFAULT '{}'::text[] NOT NULL,
	CONSTRAINT "pay_attempts_owner_id" UNIQUE("owner_id","id")
);
--> statement-breakpoint
CREATE TABLE "pay_events" (
	"owner_id" uuid NOT NULL,
	"event_id" text NOT NULL,
	"attempt_id" uuid NOT NULL,
	"name" text NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	CONSTRAINT "pay_events_owner_id_event_id_pk" PRIMARY KEY("owner_id","event_id")
);
--> statement-breakpoint
CREATE TABLE "pay_keys" (
	"owner_id" uuid PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"sealed_secret" text NOT NULL,
	"hook_id" uuid NOT NULL,
	"sealed_hook_secret" text NOT NULL,
	"sealed_hook_secret_before" text,
	"since" timestamp with time zone NOT NULL,
	CONSTRAINT "pay_keys_hook" UNIQUE("hook_id")
);
--> statement-breakpoint
ALTER TABLE "pay_attempt_invoices" ADD CONSTRAINT "pay_attempt_invoices_owner_id_attempt_id_pay_attempts_owner_id_id_fk" FOREIGN KEY ("owner_id","attempt_id") REFERENCES "public"."pay_attempts"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pay_attempt_invoices" ADD CONSTRAINT "pay_attempt_invoices_owner_id_invoice_id_invoices_owner_id_id_fk" FOREIGN KEY ("owner_id","invoice_id") REFERENCES "public"."invoices"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pay_attempts" ADD CONSTRAINT "pay_attempts_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pay_attempts" ADD CONSTRAINT "pay_attempts_link_id_pay_links_id_fk" FOREIGN KEY ("link_id") REFERENCES "public"."pay_links"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pay_events" ADD CONSTRAINT "pay_events_owner_id_attempt_id_pay_attempts_owner_id_id_fk" FOREIGN KEY ("owner_id","attempt_id") REFERENCES "public"."pay_attempts"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pay_keys" ADD CONSTRAINT "pay_keys_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "pay_attempt_invoices_invoice" ON "pay_attempt_invoices" USING btree ("invoice_id");--> statement-breakpoint
CREATE UNIQUE INDEX "pay_attempts_provider" ON "pay_attempts" USING btree ("owner_id","provider_id") WHERE "pay_attempts"."provider_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "pay_attempts_open" ON "pay_attempts" USING btree ("owner_id") WHERE "pay_attempts"."state" IN ('starting', 'open');--> statement-breakpoint
CREATE INDEX "pay_attempts_next" ON "pay_attempts" USING btree ("next_ask_at") WHERE "pay_attempts"."next_ask_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "pay_attempts_started" ON "pay_attempts" USING btree ("started_at");--> statement-breakpoint
CREATE INDEX "pay_attempts_link" ON "pay_attempts" USING btree ("link_id");--> statement-breakpoint
CREATE INDEX "pay_events_received" ON "pay_events" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "deliveries_paying" ON "deliveries" USING btree ("owner_id") WHERE "deliveries"."state" = 'held' AND "deliveries"."reason" = 'paying';
CREATE TABLE "account_links" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"purpose" text NOT NULL,
	"email" text,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"display_name" text NOT NULL,
	"email" text NOT NULL,
	"password_hash" text,
	"google_issuer" text,
	"google_sub" text,
	"email_verified_at" timestamp with time zone,
	"timezone" text NOT NULL,
	"reminder_hour" integer DEFAULT 9 NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"reminders_active" boolean DEFAULT false NOT NULL,
	"next_run_at" timestamp with time zone,
	"last_daily_run_at" timestamp with time zone,
	"group_by_client" boolean DEFAULT false NOT NULL,
	"next_midnight_at" timestamp with time zone NOT NULL,
	"overdue_through" date NOT NULL,
	"last_reference_number" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"kind" text NOT NULL,
	"about" text,
	"address" text DEFAULT '' NOT NULL,
	"user_agent" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "google_returns" (
	"code_hash" text PRIMARY KEY NOT NULL,
	"browser_hash" text NOT NULL,
	"issuer" text NOT NULL,
	"sub" text NOT NULL,
	"email" text NOT NULL,
	"name" text,
	"email_verified" boolean NOT NULL,
	"authoritative" boolean NOT NULL,
	"link_owner_id" uuid,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "notices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"title" text NOT NULL,
	"text" text NOT NULL,
	"link" text,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recovery_codes" (
	"owner_id" uuid NOT NULL,
	"code_hash" text NOT NULL,
	CONSTRAINT "recovery_codes_owner_id_code_hash_pk" PRIMARY KEY("owner_id","code_hash")
);
--> statement-breakpoint
CREATE TABLE "second_factors" (
	"owner_id" uuid PRIMARY KEY NOT NULL,
	"sealed_secret" text NOT NULL,
	"confirmed_at" timestamp with time zone,
	"last_step" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"refresh_hash" text NOT NULL,
	"previous_hash" text,
	"rotated_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"last_seen_at" timestamp with time zone NOT NULL,
	"user_agent" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "throttles" (
	"key" text PRIMARY KEY NOT NULL,
	"count" integer NOT NULL,
	"until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "client_pauses" (
	"owner_id" uuid NOT NULL,
	"client_key" text NOT NULL,
	"paused_at" timestamp with time zone NOT NULL,
	"paused_until" date,
	"pause_note" text NOT NULL,
	"pause_promised" boolean NOT NULL,
	CONSTRAINT "client_pauses_owner_id_client_key_pk" PRIMARY KEY("owner_id","client_key")
);
--> statement-breakpoint
CREATE TABLE "invoices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"reference" text NOT NULL,
	"client_name" text NOT NULL,
	"client_email" text NOT NULL,
	"amount_minor" bigint NOT NULL,
	"due_date" date NOT NULL,
	"status" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"paid_at" timestamp with time zone,
	"awaits_overdue" boolean DEFAULT false NOT NULL,
	"deleted_at" timestamp with time zone,
	"paused_at" timestamp with time zone,
	"paused_until" date,
	"pause_note" text DEFAULT '' NOT NULL,
	"pause_promised" boolean DEFAULT false NOT NULL,
	"reminders_sent" integer DEFAULT 0 NOT NULL,
	"last_reminder_at" timestamp with time zone,
	"first_message_id" text,
	CONSTRAINT "invoices_owner_id" UNIQUE("owner_id","id"),
	CONSTRAINT "invoices_amount" CHECK ("invoices"."amount_minor" BETWEEN 1 AND 999999999999)
);
--> statement-breakpoint
CREATE TABLE "mail_configs" (
	"owner_id" uuid PRIMARY KEY NOT NULL,
	"sender_id" uuid NOT NULL,
	"provider" text NOT NULL,
	"address" text NOT NULL,
	"host" text,
	"port" integer,
	"secure" boolean,
	"sealed_password" text,
	"sealed_refresh_token" text,
	"created_at" timestamp with time zone NOT NULL,
	"pause_reason" text,
	"pause_message" text,
	"paused_at" timestamp with time zone,
	"paused_until" timestamp with time zone,
	"learned_per_day" integer
);
--> statement-breakpoint
CREATE TABLE "server_checks" (
	"subject" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "system_mails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sealed_mail" text NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"next_try_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "decisions" (
	"owner_id" uuid NOT NULL,
	"invoice_id" uuid NOT NULL,
	"local_date" date NOT NULL,
	"rule" text NOT NULL,
	"delivery_id" uuid,
	"note" text,
	"decided_at" timestamp with time zone NOT NULL,
	CONSTRAINT "decisions_invoice_id_local_date_pk" PRIMARY KEY("invoice_id","local_date")
);
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"run_id" uuid NOT NULL,
	"pulled_by_run_id" uuid,
	"client_email" text NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"created_at" timestamp with time zone NOT NULL,
	"next_try_at" timestamp with time zone NOT NULL,
	"deadline_at" timestamp with time zone NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"claimed_by" uuid,
	"claim" uuid,
	"raw" "bytea",
	"subject" text,
	"message_id" text,
	"rendered_from" text,
	"sent_at" timestamp with time zone,
	"server_reply" text,
	CONSTRAINT "deliveries_owner_id" UNIQUE("owner_id","id")
);
--> statement-breakpoint
CREATE TABLE "delivery_invoices" (
	"owner_id" uuid NOT NULL,
	"delivery_id" uuid NOT NULL,
	"invoice_id" uuid NOT NULL,
	"open" boolean NOT NULL,
	CONSTRAINT "delivery_invoices_delivery_id_invoice_id_pk" PRIMARY KEY("delivery_id","invoice_id")
);
--> statement-breakpoint
CREATE TABLE "processes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"heartbeat_at" timestamp with time zone DEFAULT now() NOT NULL,
	"steady_since" timestamp with time zone DEFAULT now() NOT NULL,
	"ticked_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"local_date" date NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"deadline_at" timestamp with time zone NOT NULL,
	"cancelled_at" timestamp with time zone,
	"cursor" text,
	"grouped" boolean DEFAULT false NOT NULL,
	"retry_of" uuid,
	"planned_at" timestamp with time zone,
	"skipped" integer DEFAULT 0 NOT NULL,
	"skipped_reason" text,
	CONSTRAINT "runs_owner_id" UNIQUE("owner_id","id")
);
--> statement-breakpoint
CREATE TABLE "templates" (
	"owner_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"use_custom" boolean NOT NULL,
	"custom_subject" text NOT NULL,
	"custom_content" text NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "templates_owner_id_kind_pk" PRIMARY KEY("owner_id","kind")
);
--> statement-breakpoint
ALTER TABLE "account_links" ADD CONSTRAINT "account_links_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "google_returns" ADD CONSTRAINT "google_returns_link_owner_id_accounts_id_fk" FOREIGN KEY ("link_owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notices" ADD CONSTRAINT "notices_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "second_factors" ADD CONSTRAINT "second_factors_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "client_pauses" ADD CONSTRAINT "client_pauses_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mail_configs" ADD CONSTRAINT "mail_configs_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "decisions" ADD CONSTRAINT "decisions_owner_id_invoice_id_invoices_owner_id_id_fk" FOREIGN KEY ("owner_id","invoice_id") REFERENCES "public"."invoices"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "decisions" ADD CONSTRAINT "decisions_owner_id_delivery_id_deliveries_owner_id_id_fk" FOREIGN KEY ("owner_id","delivery_id") REFERENCES "public"."deliveries"("owner_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_owner_id_run_id_runs_owner_id_id_fk" FOREIGN KEY ("owner_id","run_id") REFERENCES "public"."runs"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_owner_id_pulled_by_run_id_runs_owner_id_id_fk" FOREIGN KEY ("owner_id","pulled_by_run_id") REFERENCES "public"."runs"("owner_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delivery_invoices" ADD CONSTRAINT "delivery_invoices_owner_id_delivery_id_deliveries_owner_id_id_fk" FOREIGN KEY ("owner_id","delivery_id") REFERENCES "public"."deliveries"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delivery_invoices" ADD CONSTRAINT "delivery_invoices_owner_id_invoice_id_invoices_owner_id_id_fk" FOREIGN KEY ("owner_id","invoice_id") REFERENCES "public"."invoices"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_owner_id_retry_of_runs_owner_id_id_fk" FOREIGN KEY ("owner_id","retry_of") REFERENCES "public"."runs"("owner_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "templates" ADD CONSTRAINT "templates_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_links_owner" ON "account_links" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "account_links_expires" ON "account_links" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_email" ON "accounts" USING btree (lower("email"));--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_google" ON "accounts" USING btree ("google_issuer","google_sub");--> statement-breakpoint
CREATE INDEX "accounts_next_run" ON "accounts" USING btree ("next_run_at","id") WHERE "accounts"."next_run_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "accounts_next_midnight" ON "accounts" USING btree ("next_midnight_at","id");--> statement-breakpoint
CREATE INDEX "audit_entries_owner" ON "audit_entries" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "google_returns_expires" ON "google_returns" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "google_returns_link_owner" ON "google_returns" USING btree ("link_owner_id");--> statement-breakpoint
CREATE INDEX "notices_newest" ON "notices" USING btree ("owner_id","created_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "sessions_owner" ON "sessions" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "client_pauses_until" ON "client_pauses" USING btree ("paused_until");--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_reference" ON "invoices" USING btree ("owner_id","reference") WHERE "invoices"."deleted_at" IS NULL;--> statement-breakpoint
CREATE INDEX "invoices_newest" ON "invoices" USING btree ("owner_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST) WHERE "invoices"."deleted_at" IS NULL;--> statement-breakpoint
CREATE INDEX "invoices_owed" ON "invoices" USING btree ("owner_id","due_date") WHERE "invoices"."deleted_at" IS NULL AND "invoices"."status" <> 'paid';--> statement-breakpoint
CREATE INDEX "invoices_paused" ON "invoices" USING btree ("paused_until") WHERE "invoices"."paused_until" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "invoices_client" ON "invoices" USING btree ("owner_id",lower("client_email"));--> statement-breakpoint
CREATE INDEX "invoices_deleted" ON "invoices" USING btree ("deleted_at") WHERE "invoices"."deleted_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "system_mails_next_try" ON "system_mails" USING btree ("next_try_at");--> statement-breakpoint
CREATE INDEX "deliveries_run" ON "deliveries" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "deliveries_pulled" ON "deliveries" USING btree ("pulled_by_run_id") WHERE "deliveries"."pulled_by_run_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "deliveries_waiting" ON "deliveries" USING btree ("owner_id","next_try_at","id") WHERE "deliveries"."state" IN ('queued', 'retrying');--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("next_try_at") WHERE "deliveries"."state" IN ('queued', 'retrying');--> statement-breakpoint
CREATE INDEX "deliveries_held" ON "deliveries" USING btree ("owner_id") WHERE "deliveries"."state" = 'held';--> statement-breakpoint
CREATE INDEX "deliveries_deadline" ON "deliveries" USING btree ("deadline_at") WHERE "deliveries"."state" IN ('queued', 'retrying', 'held');--> statement-breakpoint
CREATE INDEX "deliveries_sending" ON "deliveries" USING btree ("claimed_by") WHERE "deliveries"."state" = 'sending';--> statement-breakpoint
CREATE INDEX "deliveries_sent" ON "deliveries" USING btree ("owner_id","sent_at" DESC NULLS LAST) WHERE "deliveries"."state" = 'sent';--> statement-breakpoint
CREATE INDEX "delivery_invoices_invoice" ON "delivery_invoices" USING btree ("invoice_id");--> statement-breakpoint
CREATE UNIQUE INDEX "delivery_invoices_one_open" ON "delivery_invoices" USING btree ("invoice_id") WHERE "delivery_invoices"."open";--> statement-breakpoint
CREATE UNIQUE INDEX "runs_one_daily" ON "runs" USING btree ("owner_id","local_date") WHERE "runs"."kind" = 'daily';--> statement-breakpoint
CREATE INDEX "runs_unplanned" ON "runs" USING btree ("owner_id") WHERE "runs"."planned_at" IS NULL;--> statement-breakpoint
CREATE INDEX "runs_newest" ON "runs" USING btree ("owner_id","created_at" DESC NULLS LAST);
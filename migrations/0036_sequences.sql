CREATE TABLE "sequences" (
	"owner_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"every_days" integer,
	"at_most" integer,
	"at_least" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "sequences_owner_id" UNIQUE("owner_id","id")
);
--> statement-breakpoint
CREATE TABLE "sequence_steps" (
	"owner_id" uuid NOT NULL,
	"sequence_id" uuid NOT NULL,
	"offset" integer NOT NULL,
	"tone" text NOT NULL,
	"copy_to_me" boolean NOT NULL,
	"copy_to_second_contact" boolean NOT NULL,
	CONSTRAINT "sequence_steps_sequence_id_offset_pk" PRIMARY KEY("sequence_id","offset"),
	CONSTRAINT "sequence_steps_owner" UNIQUE("owner_id","sequence_id","offset")
);
--> statement-breakpoint
CREATE TABLE "step_texts" (
	"owner_id" uuid NOT NULL,
	"sequence_id" uuid NOT NULL,
	"offset" integer NOT NULL,
	"language" text NOT NULL,
	"subject" text NOT NULL,
	"content" text NOT NULL,
	"group_subject" text NOT NULL,
	"group_content" text NOT NULL,
	CONSTRAINT "step_texts_sequence_id_offset_language_pk" PRIMARY KEY("sequence_id","offset","language")
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "follows" text DEFAULT 'every_day' NOT NULL;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "sequence_id" uuid;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "plans_steps" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "clients" ADD COLUMN "follows" text DEFAULT 'inherit' NOT NULL;--> statement-breakpoint
ALTER TABLE "clients" ADD COLUMN "sequence_id" uuid;--> statement-breakpoint
ALTER TABLE "clients" ADD COLUMN "second_contact" text;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "follows" text DEFAULT 'inherit' NOT NULL;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "sequence_id" uuid;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "reminded_through" date;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "steps_sent" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "promised_until" date;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "sequence_ended_on" date;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "sequence_id" uuid;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "step_offset" integer;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "step_date" date;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "copies" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "copies_refused" text;--> statement-breakpoint
ALTER TABLE "delivery_invoices" ADD COLUMN "step_date" date;--> statement-breakpoint
ALTER TABLE "sequences" ADD CONSTRAINT "sequences_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sequence_steps" ADD CONSTRAINT "sequence_steps_owner_id_sequence_id_sequences_owner_id_id_fk" FOREIGN KEY ("owner_id","sequence_id") REFERENCES "public"."sequences"("owner_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "step_texts" ADD CONSTRAINT "step_texts_owner_id_sequence_id_offset_sequence_steps_owner_id_sequence_id_offset_fk" FOREIGN KEY ("owner_id","sequence_id","offset") REFERENCES "public"."sequence_steps"("owner_id","sequence_id","offset") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "clients" ADD CONSTRAINT "clients_owner_id_sequence_id_sequences_owner_id_id_fk" FOREIGN KEY ("owner_id","sequence_id") REFERENCES "public"."sequences"("owner_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_owner_id_sequence_id_sequences_owner_id_id_fk" FOREIGN KEY ("owner_id","sequence_id") REFERENCES "public"."sequences"("owner_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "clients_sequence" ON "clients" USING btree ("owner_id","sequence_id") WHERE "clients"."sequence_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "invoices_sequence" ON "invoices" USING btree ("owner_id","sequence_id") WHERE "invoices"."sequence_id" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "clients" ADD CONSTRAINT "clients_follows" CHECK (("clients"."follows" = 'own') = ("clients"."sequence_id" IS NOT NULL));--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_follows" CHECK (("invoices"."follows" = 'own') = ("invoices"."sequence_id" IS NOT NULL));
--> statement-breakpoint
-- A zone that PostgreSQL does not know costs a day at most.
UPDATE "invoices" i SET "reminded_through" = (i."last_reminder_at" AT TIME ZONE coalesce(z."name", 'UTC'))::date
FROM "accounts" a LEFT JOIN pg_timezone_names z ON z."name" = a."timezone"
WHERE a."id" = i."owner_id" AND i."last_reminder_at" IS NOT NULL;

ALTER TABLE "accounts" ADD COLUMN "language" text DEFAULT 'en' NOT NULL;--> statement-breakpoint
ALTER TABLE "clients" ADD COLUMN "language" text;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "language" text;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "language" text;--> statement-breakpoint
ALTER TABLE "templates" ADD COLUMN "language" text DEFAULT 'en' NOT NULL;--> statement-breakpoint
ALTER TABLE "templates" DROP CONSTRAINT "templates_owner_id_kind_pk";--> statement-breakpoint
ALTER TABLE "templates" ADD CONSTRAINT "templates_owner_id_kind_language_pk" PRIMARY KEY("owner_id","kind","language");
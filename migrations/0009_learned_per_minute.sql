ALTER TABLE "mail_configs" ADD COLUMN "learned_per_minute" integer;--> statement-breakpoint
ALTER TABLE "mail_configs" ADD COLUMN "learned_per_minute_at" timestamp with time zone;
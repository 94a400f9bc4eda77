ALTER TABLE "mail_configs" ADD COLUMN "per_hour" integer;--> statement-breakpoint
ALTER TABLE "mail_configs" ADD COLUMN "per_day" integer;
ALTER TABLE "accounts" ADD COLUMN "offered_to" uuid;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "offered_until" timestamp with time zone;
ALTER TABLE "accounts" ADD COLUMN "reading_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "sources" ADD COLUMN "tried_at" timestamp with time zone;
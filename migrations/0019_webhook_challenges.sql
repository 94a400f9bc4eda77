CREATE TABLE "hook_hosts" (
	"host" text PRIMARY KEY NOT NULL,
	"next_call_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "hooks" ADD COLUMN "verified_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "hooks" ADD COLUMN "skipped" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "hooks" ADD COLUMN "last_skipped_at" timestamp with time zone;--> statement-breakpoint
-- Webhooks of earlier versions were called without a challenge and continue as they are.
UPDATE "hooks" SET "verified_at" = "created_at";--> statement-breakpoint
-- This job is now one per account: wakeWebhooks asks for it.
DELETE FROM "jobs" WHERE "name" = 'deliver-hook';

ALTER TABLE "brands" ADD COLUMN "reply_to" text;--> statement-breakpoint
ALTER TABLE "brands" ADD COLUMN "asked_reply_to" text;--> statement-breakpoint
ALTER TABLE "brands" ADD COLUMN "code_hash" text;--> statement-breakpoint
ALTER TABLE "brands" ADD COLUMN "code_expires_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "brands" ADD COLUMN "code_tries" integer DEFAULT 0 NOT NULL;
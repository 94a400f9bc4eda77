ALTER TABLE "accounts" ADD COLUMN "hold_minutes" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "leaves_at" timestamp with time zone;
CREATE TABLE "former_accounts" (
	"address_hash" text PRIMARY KEY NOT NULL,
	"trial_started_at" timestamp with time zone NOT NULL,
	"month" text NOT NULL,
	"created" integer NOT NULL,
	"left_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "trial_started_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "authenticated_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "former_accounts_left" ON "former_accounts" USING btree ("left_at");
CREATE TABLE "jobs" (
	"name" text NOT NULL,
	"key" text NOT NULL,
	"payload" jsonb NOT NULL,
	"turn" integer DEFAULT 1 NOT NULL,
	"not_before" timestamp with time zone DEFAULT now() NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"ticket" uuid,
	"lease_until" timestamp with time zone,
	CONSTRAINT "jobs_name_key_pk" PRIMARY KEY("name","key")
);
--> statement-breakpoint
CREATE INDEX "jobs_wanted" ON "jobs" USING btree ("name","not_before") WHERE "jobs"."turn" > 0;--> statement-breakpoint
CREATE INDEX "jobs_ticket" ON "jobs" USING btree ("ticket");--> statement-breakpoint
DROP SCHEMA IF EXISTS "pgboss" CASCADE;

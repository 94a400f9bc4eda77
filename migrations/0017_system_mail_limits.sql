CREATE TABLE "system_mail_counts" (
	"address_hash" text NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"sent_at" jsonb NOT NULL,
	"held" integer DEFAULT 0 NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "system_mail_counts_address_hash_kind_pk" PRIMARY KEY("address_hash","kind")
);
--> statement-breakpoint
DROP INDEX "jobs_wanted";--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "place" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "system_mails" ADD COLUMN "account_id" uuid;--> statement-breakpoint
ALTER TABLE "system_mails" ADD COLUMN "is_link" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "system_mails" ADD COLUMN "link_hash" text;--> statement-breakpoint
ALTER TABLE "system_mails" ADD COLUMN "place" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "system_mails" ADD COLUMN "digest_for" text;--> statement-breakpoint
CREATE INDEX "system_mails_account" ON "system_mails" USING btree ("account_id");--> statement-breakpoint
CREATE UNIQUE INDEX "system_mails_digest" ON "system_mails" USING btree ("digest_for");--> statement-breakpoint
CREATE INDEX "jobs_wanted" ON "jobs" USING btree ("name","place","not_before") WHERE "jobs"."turn" > 0;
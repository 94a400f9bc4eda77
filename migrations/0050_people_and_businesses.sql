CREATE TABLE "people" (
	"id" uuid PRIMARY KEY NOT NULL,
	"display_name" text NOT NULL,
	"email" text NOT NULL,
	"password_hash" text,
	"google_issuer" text,
	"google_sub" text,
	"email_verified_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"owner_id" uuid NOT NULL,
	"person_id" uuid NOT NULL,
	"role" text NOT NULL,
	"gets_mails" boolean DEFAULT true NOT NULL,
	"joined_at" timestamp with time zone NOT NULL,
	CONSTRAINT "memberships_owner_id_person_id_pk" PRIMARY KEY("owner_id","person_id")
);
--> statement-breakpoint
CREATE TABLE "person_entries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"person_id" uuid NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"kind" text NOT NULL,
	"about" text,
	"address" text DEFAULT '' NOT NULL,
	"user_agent" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
-- Each account was a person and their business: both get its id. No later person or business shares one.
INSERT INTO "people" SELECT "id", "display_name", "email", "password_hash", "google_issuer", "google_sub", "email_verified_at", "created_at", "updated_at" FROM "accounts";--> statement-breakpoint
INSERT INTO "memberships" ("owner_id", "person_id", "role", "joined_at") SELECT "id", "id", 'owner', "created_at" FROM "accounts";--> statement-breakpoint
CREATE UNIQUE INDEX "people_email" ON "people" USING btree (lower("email"));--> statement-breakpoint
CREATE UNIQUE INDEX "people_google" ON "people" USING btree ("google_issuer","google_sub");--> statement-breakpoint
CREATE UNIQUE INDEX "memberships_one_owner" ON "memberships" USING btree ("owner_id") WHERE "memberships"."role" = 'owner';--> statement-breakpoint
CREATE INDEX "memberships_person" ON "memberships" USING btree ("person_id","joined_at");--> statement-breakpoint
CREATE INDEX "person_entries_person" ON "person_entries" USING btree ("person_id","id");--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "person_entries" ADD CONSTRAINT "person_entries_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- How people sign in is theirs.
ALTER TABLE "sessions" DROP CONSTRAINT "sessions_owner_id_accounts_id_fk";--> statement-breakpoint
ALTER TABLE "sessions" RENAME COLUMN "owner_id" TO "person_id";--> statement-breakpoint
ALTER INDEX "sessions_owner" RENAME TO "sessions_person";--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "second_factors" DROP CONSTRAINT "second_factors_owner_id_accounts_id_fk";--> statement-breakpoint
ALTER TABLE "second_factors" RENAME COLUMN "owner_id" TO "person_id";--> statement-breakpoint
ALTER TABLE "second_factors" ADD CONSTRAINT "second_factors_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recovery_codes" DROP CONSTRAINT "recovery_codes_owner_id_accounts_id_fk";--> statement-breakpoint
ALTER TABLE "recovery_codes" RENAME COLUMN "owner_id" TO "person_id";--> statement-breakpoint
ALTER TABLE "recovery_codes" RENAME CONSTRAINT "recovery_codes_owner_id_code_hash_pk" TO "recovery_codes_person_id_code_hash_pk";--> statement-breakpoint
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "account_links" DROP CONSTRAINT "account_links_owner_id_accounts_id_fk";--> statement-breakpoint
ALTER TABLE "account_links" RENAME COLUMN "owner_id" TO "person_id";--> statement-breakpoint
ALTER INDEX "account_links_owner" RENAME TO "account_links_person";--> statement-breakpoint
ALTER TABLE "account_links" ADD CONSTRAINT "account_links_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "google_returns" DROP CONSTRAINT "google_returns_link_owner_id_accounts_id_fk";--> statement-breakpoint
ALTER TABLE "google_returns" RENAME COLUMN "link_owner_id" TO "person_id";--> statement-breakpoint
ALTER INDEX "google_returns_link_owner" RENAME TO "google_returns_person";--> statement-breakpoint
ALTER TABLE "google_returns" ADD CONSTRAINT "google_returns_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
DROP INDEX "accounts_email";--> statement-breakpoint
DROP INDEX "accounts_google";--> statement-breakpoint
ALTER TABLE "accounts" DROP COLUMN "display_name", DROP COLUMN "email", DROP COLUMN "password_hash", DROP COLUMN "google_issuer", DROP COLUMN "google_sub", DROP COLUMN "email_verified_at", ADD COLUMN "name" text;--> statement-breakpoint
CREATE FUNCTION "keep_person_entries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	-- With the person all of it goes.
	IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT 1 FROM "people" WHERE "id" = OLD."person_id") THEN
		RETURN OLD;
	END IF;
	RAISE EXCEPTION 'The audit log is only ever added to.' USING ERRCODE = 'integrity_constraint_violation';
END $$;--> statement-breakpoint
CREATE TRIGGER "person_entries_append_only" BEFORE UPDATE OR DELETE ON "person_entries" FOR EACH ROW EXECUTE FUNCTION "keep_person_entries"();

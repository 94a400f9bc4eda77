CREATE TABLE "invitations" (
	"owner_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"email" text NOT NULL,
	"role" text NOT NULL,
	"token_hash" text NOT NULL,
	"invited_by" uuid,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "invitations_owner_id_id_pk" PRIMARY KEY("owner_id","id"),
	CONSTRAINT "invitations_tokenHash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
ALTER TABLE "oauth_grants" DROP CONSTRAINT "oauth_grants_one";--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "made_by" uuid;--> statement-breakpoint
ALTER TABLE "oauth_grants" ADD COLUMN "made_by" uuid;--> statement-breakpoint
ALTER TABLE "hooks" ADD COLUMN "made_by" uuid;--> statement-breakpoint
-- Until now each account had one person.
UPDATE "api_keys" p SET "made_by" = m."person_id" FROM "memberships" m WHERE m."owner_id" = p."owner_id" AND m."role" = 'owner';--> statement-breakpoint
UPDATE "oauth_grants" p SET "made_by" = m."person_id" FROM "memberships" m WHERE m."owner_id" = p."owner_id" AND m."role" = 'owner';--> statement-breakpoint
UPDATE "hooks" p SET "made_by" = m."person_id" FROM "memberships" m WHERE p."kind" = 'webhook' AND m."owner_id" = p."owner_id" AND m."role" = 'owner';--> statement-breakpoint
ALTER TABLE "api_keys" ALTER COLUMN "made_by" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "oauth_grants" ALTER COLUMN "made_by" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_invited_by_people_id_fk" FOREIGN KEY ("invited_by") REFERENCES "public"."people"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_email" ON "invitations" USING btree ("owner_id",lower("email"));--> statement-breakpoint
CREATE INDEX "invitations_invited_by" ON "invitations" USING btree ("invited_by");--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_made_by_people_id_fk" FOREIGN KEY ("made_by") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_grants" ADD CONSTRAINT "oauth_grants_made_by_people_id_fk" FOREIGN KEY ("made_by") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "hooks" ADD CONSTRAINT "hooks_made_by_people_id_fk" FOREIGN KEY ("made_by") REFERENCES "public"."people"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_made_by" ON "api_keys" USING btree ("made_by");--> statement-breakpoint
CREATE INDEX "oauth_grants_made_by" ON "oauth_grants" USING btree ("made_by");--> statement-breakpoint
CREATE INDEX "hooks_made_by" ON "hooks" USING btree ("made_by");--> statement-breakpoint
ALTER TABLE "oauth_grants" ADD CONSTRAINT "oauth_grants_one" UNIQUE("owner_id","made_by","client_id");
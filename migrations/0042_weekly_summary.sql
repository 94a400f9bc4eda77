CREATE TABLE "owner_links" (
	"owner_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"token_hash" text NOT NULL,
	"purpose" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "owner_links_owner_id_id_pk" PRIMARY KEY("owner_id","id")
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "next_summary_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "owner_links" ADD CONSTRAINT "owner_links_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "owner_links_token" ON "owner_links" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "owner_links_expires" ON "owner_links" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "accounts_next_summary" ON "accounts" USING btree ("next_summary_at") WHERE "accounts"."next_summary_at" IS NOT NULL;
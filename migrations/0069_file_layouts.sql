CREATE TABLE "file_layouts" (
	"owner_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"hash" text NOT NULL,
	"headings" text NOT NULL,
	"name" text NOT NULL,
	"answers" jsonb NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone NOT NULL,
	CONSTRAINT "file_layouts_kind_hash" UNIQUE("owner_id","kind","hash")
);
--> statement-breakpoint
ALTER TABLE "file_layouts" ADD CONSTRAINT "file_layouts_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;
CREATE TABLE "leases" (
	"name" text PRIMARY KEY NOT NULL,
	"process_id" uuid NOT NULL,
	"until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "steps" (
	"name" text PRIMARY KEY NOT NULL,
	"succeeded_at" timestamp with time zone NOT NULL,
	"late_at" timestamp with time zone NOT NULL
);

CREATE TABLE "clients" (
	"owner_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"email_key" text NOT NULL,
	CONSTRAINT "clients_owner_id" UNIQUE("owner_id","id"),
	CONSTRAINT "clients_address" UNIQUE("owner_id","email_key")
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "currency" text DEFAULT 'INR' NOT NULL;--> statement-breakpoint
ALTER TABLE "invoice_payments" ADD COLUMN "currency" text DEFAULT 'INR' NOT NULL;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "currency" text DEFAULT 'INR' NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "currency" text DEFAULT 'INR' NOT NULL;--> statement-breakpoint
ALTER TABLE "clients" ADD CONSTRAINT "clients_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_currency" CHECK ("invoices"."currency" ~ '^[A-Z]{3}$');
--> statement-breakpoint
INSERT INTO "clients" ("owner_id", "id", "email_key")
SELECT "owner_id", gen_random_uuid(), "email_key" FROM (SELECT DISTINCT "owner_id", lower("client_email") AS "email_key" FROM "invoices") known;
--> statement-breakpoint
CREATE FUNCTION "add_clients"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "clients" ("owner_id", "id", "email_key")
	SELECT "owner_id", gen_random_uuid(), "email_key" FROM (SELECT DISTINCT "owner_id", lower("client_email") AS "email_key" FROM "fresh") known
	ORDER BY "owner_id", "email_key" ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "invoices_add_clients" AFTER INSERT ON "invoices" REFERENCING NEW TABLE AS "fresh" FOR EACH STATEMENT
	EXECUTE FUNCTION "add_clients"();
--> statement-breakpoint
CREATE FUNCTION "add_client"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "clients" ("owner_id", "id", "email_key") VALUES (NEW."owner_id", gen_random_uuid(), lower(NEW."client_email")) ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "invoices_add_client" AFTER UPDATE OF "client_email" ON "invoices" FOR EACH ROW
	WHEN (lower(NEW."client_email") <> lower(OLD."client_email"))
	EXECUTE FUNCTION "add_client"();

-- References are looked for in one form: width, dashes, case and spaces make no difference. They are stored as written.
CREATE FUNCTION reference_key(reference text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN lower(
  regexp_replace(
    regexp_replace(normalize(reference, NFKC), '[\s\u200b\u200e\u200f\u2060\ufeff\u00ad]+', '', 'g'),
    '[\u058a\u05be\u2010-\u2015\u2212\u301c\u3030]', '-', 'g'
  )
);
--> statement-breakpoint
CREATE INDEX "invoices_reference_key" ON "invoices" USING btree ("owner_id",reference_key("reference")) WHERE "invoices"."deleted_at" IS NULL;

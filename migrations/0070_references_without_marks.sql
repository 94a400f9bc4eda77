-- Marks that turn the direction of a text are no longer part of references, so that a file with them finds its invoices. Where another invoice has
-- that reference, it stays.
WITH marked AS (
  SELECT id, owner_id, plain, row_number() OVER (PARTITION BY owner_id, plain ORDER BY id) AS nth
  FROM (
    SELECT id, owner_id, btrim(regexp_replace(reference, '[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]', '', 'g')) AS plain
    FROM invoices
    WHERE deleted_at IS NULL AND reference ~ '[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]'
  ) found
)
UPDATE invoices SET reference = marked.plain
FROM marked
WHERE invoices.id = marked.id AND invoices.owner_id = marked.owner_id AND marked.nth = 1 AND marked.plain <> ''
  AND NOT EXISTS (
    SELECT 1 FROM invoices other WHERE other.owner_id = marked.owner_id AND other.reference = marked.plain AND other.deleted_at IS NULL
  );
--> statement-breakpoint
UPDATE invoices SET imported_as = btrim(regexp_replace(imported_as, '[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]', '', 'g'))
WHERE imported_as ~ '[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]';

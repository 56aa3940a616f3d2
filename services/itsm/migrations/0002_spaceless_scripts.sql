-- Scripts that put no spaces between words (Thai, Lao, Burmese, Khmer, Chinese, Japanese, Korean) are stored as overlapping pairs
-- of characters, with the first and the last one by itself: each character is doubled, and the halves are drawn apart. Queries ask for a phrase of pairs
-- (`libs/postgres/src/text-search.ts`, with the same ranges). A text of ASCII alone is passed on at once.
CREATE FUNCTION "spaceless_pairs"("value" text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF octet_length(value) = char_length(value) OR value !~ '[\u0E00-\u0EFF\u1000-\u109F\u1100-\u11FF\u1780-\u17FF\u3040-\u312F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\U00020000-\U0003FFFF]' THEN RETURN value; END IF;
  RETURN regexp_replace(regexp_replace(value, '([\u0E00-\u0EFF\u1000-\u109F\u1100-\u11FF\u1780-\u17FF\u3040-\u312F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\U00020000-\U0003FFFF]+)', ' \1 ', 'g'), '([\u0E00-\u0EFF\u1000-\u109F\u1100-\u11FF\u1780-\u17FF\u3040-\u312F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\U00020000-\U0003FFFF])', '\1 \1', 'g');
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "knowledge_tsvector"("language" text, "title" text, "about" text, "body" text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
  SELECT setweight(to_tsvector(knowledge_config(language), spaceless_pairs(knowledge_plain(title))), 'A')
    || setweight(to_tsvector(knowledge_config(language), spaceless_pairs(knowledge_plain(about))), 'B')
    || setweight(to_tsvector(knowledge_config(language), spaceless_pairs(knowledge_plain(body))), 'C') $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "list_search"("names" text, "labels" text, "body" text) RETURNS tsvector
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
BEGIN
  -- Every insert pays for this, and most have neither labels nor a body.
  RETURN setweight(to_tsvector('simple', spaceless_pairs(regexp_replace(lower(unaccent('unaccent'::regdictionary, names)), '[!-/:-@\[-`{-~]+', ' ', 'g'))), 'A')
    || CASE WHEN labels IN ('', '[]') THEN '' ELSE setweight(to_tsvector('simple', spaceless_pairs(regexp_replace(lower(unaccent('unaccent'::regdictionary, labels)), '[!-/:-@\[-`{-~]+', ' ', 'g'))), 'B') END
    || CASE WHEN body = '' THEN '' ELSE setweight(to_tsvector('simple', spaceless_pairs(regexp_replace(lower(unaccent('unaccent'::regdictionary, body)), '[!-/:-@\[-`{-~]+', ' ', 'g'))), 'C') END;
END $$;

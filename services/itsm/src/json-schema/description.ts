/** Description of the supported schema keywords for the API documentation. */
export const enforcedKeywords =
  'All keywords are enforced; unsupported ones are rejected. Supported: type, enum, const, properties, required, ' +
  'dependentRequired, additionalProperties, items, uniqueItems, format, pattern, multipleOf, the bounds of numbers, strings ' +
  'and lists, anyOf, oneOf, allOf, not, if, then, else, and $ref to a definition in $defs without cycles. A pattern is an ' +
  'unanchored ECMA-262 expression (flag u) of at most 500 characters, without lookaround and backreferences.'

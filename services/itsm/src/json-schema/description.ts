/** Description of the supported schema keywords for the API documentation. */
export const enforcedKeywords =
  'It is made of keywords that are enforced, and refused with others: type, enum, const, properties, required, ' +
  'dependentRequired, additionalProperties, items, uniqueItems, format, pattern, multipleOf, the bounds of numbers, texts ' +
  'and lists, anyOf, oneOf, allOf, not, if, then, else, and $ref to a definition in $defs that does not lead back. A ' +
  'pattern is an unanchored expression of ECMA-262 (flag u) of at most 500 characters, without look-around and back ' +
  'references.'

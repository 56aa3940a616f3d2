/** JSONata's built-in functions, except `$eval`. */
export const knownFunctions: ReadonlySet<string> = new Set(
  `abs append assert average base64decode base64encode boolean ceil clone contains count decodeUrl decodeUrlComponent
   distinct each encodeUrl encodeUrlComponent error exists filter floor formatBase formatInteger formatNumber fromMillis
   join keys length lookup lowercase map match max merge millis min not now number pad parseInteger power random reduce
   replace reverse round shuffle sift single sort split spread sqrt string substring substringAfter substringBefore sum
   toMillis trim type uppercase zip`.split(/\s+/),
)

/** A word in a text or name for which docs/glossary.md has another term, and its line. */
export interface WordHit {
  line: number
  word: string
}

/** Words not allowed in any text: comments, messages, titles of tests, documents. */
const inTexts =
  /\b(?:whoever|beside|anew|under way|heard|told|somebody|anybody|nobody|everybody|vouch(?:ed|es)?|hindrances?|aftermath|sift(?:s|ed)?|of theirs|to come again|seen to|graver|gravest|lest|is owed|as it were|for good|in hand|at hand)\b/gi

/** Everyday verbs, pronouns and the like, as words of exported names and of names of files and folders. */
const inNames = new Set(
  `tell tells telling told hear hears heard say says saying said hold holds holding held take takes taking taken took let lets
  give gives giving given gave look looks looking looked put puts putting ask asks asking asked come comes came goes went gone
  nobody somebody anybody everybody whoever whatever theirs beside anew hindrance aftermath sift sifting vouch vouched graver
  most unless whose lest news meant said owed wanted`.split(/\s+/),
)

/** Beginnings of names that are clauses instead of nouns or verbs. */
const clauses = /^(?:what|who|whose|which|whether|unless|until|while|than|among|beyond)(?=[A-Z]|$)/

const exportedName =
  /^export (?:declare )?(?:abstract )?(?:async )?(function\*?|const|let|class|type|interface|enum) (\w+)/gm

/** The words of a text that are not standard terms. */
export function wordsOfText(text: string): WordHit[] {
  return [...text.matchAll(inTexts)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length,
    word: match[0].toLowerCase(),
  }))
}

/** Exported names of a TypeScript source that violate a rule of docs/glossary.md. */
export function exportedNameFaults(source: string): WordHit[] {
  const hits: WordHit[] = []
  for (const match of source.matchAll(exportedName)) {
    const [, kind = '', name = ''] = match
    const reason = nameFault(name, ['type', 'interface'].includes(kind))
    if (reason)
      hits.push({ line: source.slice(0, match.index).split('\n').length, word: `${name}: ${reason}` })
  }
  return hits
}

function nameFault(name: string, isType: boolean): string | undefined {
  const words = name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []
  const listed = words.find((word) => inNames.has(word.toLowerCase()))
  if (listed) return `"${listed.toLowerCase()}"`
  if (clauses.test(name)) return 'a clause, not a noun or a verb'
  if (!isType && /[a-z]Of$/.test(name)) return 'a verb (find, parse, build, to…) instead of "Of"'
  if (!isType && words.length === 1 && /^[a-z]+(?:ed|ing)$/.test(name)) return 'a participle without its noun'
  return undefined
}

/** The first word of a path below its package that is not a standard term; `undefined` if there is none. */
export const pathFault = (path: string): string | undefined =>
  path
    .replace(/^(?:libs|services)\/[\w-]+\//, '')
    .split(/[/.-]/)
    .find((word) => inNames.has(word))

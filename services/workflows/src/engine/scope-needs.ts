import type { Template } from '@opsplane/sandbox'

/** What of its scope a template may read; `all` where that cannot be known from its text. */
export interface ScopeNeeds {
  fields: ReadonlySet<string> | 'all'
  /** Ids of steps. */
  steps: ReadonlySet<string> | 'all'
}

/**
 * By their text, so that what cannot be read is not sent to the sandbox with every evaluation: the output of an early
 * step would otherwise go there once for every item of a `for_each`. Too much is harmless, too little is not.
 */
export function findScopeNeeds({ expressions }: Template): ScopeNeeds {
  const each = expressions.map((expression) =>
    expression.plain ? findPathNeeds(expression.plain) : findTextNeeds(expression.source),
  )
  return { fields: union(each.map(({ fields }) => fields)), steps: union(each.map(({ steps }) => steps)) }
}

function findPathNeeds([field, below]: NonNullable<Template['expressions'][number]['plain']>): ScopeNeeds {
  const reads = (names: (string | undefined)[]) => new Set(names.filter((name) => name !== undefined))
  if (field?.name !== 'steps') return { fields: reads([field?.name]), steps: new Set() }
  return { fields: reads(['steps']), steps: below ? reads([below.name]) : 'all' }
}

const everything: ScopeNeeds = { fields: 'all', steps: 'all' }
/** The root itself, wildcards, the parent, and functions that take what they are called on where they are given nothing. */
const readsAnything =
  /\$(?![A-Za-z_])|\*|%|\|~>|\||\$\w+\s*\(\s*\)|\$(?:each|sift|spread|keys|lookup|merge|eval|clone)\b/
const stepsRead = /\bsteps\b(?:\s*\.\s*(?:([a-z][a-z0-9_]*)|`([^`]*)`)(?!\s*\())?/g

function findTextNeeds(source: string): ScopeNeeds {
  if (readsAnything.test(source)) return everything
  const fields = new Set(source.match(/[A-Za-z_][A-Za-z0-9_]*/g))
  const steps = new Set<string>()
  for (const [, plain, quoted] of source.matchAll(stepsRead)) {
    const id = plain ?? quoted
    if (id === undefined) return { fields, steps: 'all' }
    steps.add(id)
  }
  return { fields, steps }
}

function union(sets: readonly (ReadonlySet<string> | 'all')[]): ReadonlySet<string> | 'all' {
  const all = new Set<string>()
  for (const set of sets) {
    if (set === 'all') return 'all'
    for (const name of set) all.add(name)
  }
  return all
}

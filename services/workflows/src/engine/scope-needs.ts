import type { Template } from '@opsplane/sandbox'

/** The part of its scope that a template may read; `all` if that cannot be determined from its text. */
export interface ScopeNeeds {
  fields: ReadonlySet<string> | 'all'
  /** Ids of steps. */
  steps: ReadonlySet<string> | 'all'
}

/**
 * Determined from the text, so that unreadable values are not sent to the sandbox with every evaluation. Otherwise the
 * output of an early step would be sent for every item of a `for_each`. The result may include too much, never too
 * little.
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
/**
 * Constructs that may read anything: the root, wildcards, the parent, and functions that default to the context value
 * when called without arguments.
 */
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

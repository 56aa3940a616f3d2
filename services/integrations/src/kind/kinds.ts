import { invalidField } from '@opsplane/contracts'
import type { Kind } from './kind.js'

/** All kinds. */
export interface Kinds {
  all: readonly Kind[]
  /** Throws `validation_failed` at `/kind` for an unknown name. */
  named(name: string): Kind
}

export function createKinds(all: readonly Kind[]): Kinds {
  const byName = new Map(all.map((kind) => [kind.name, kind]))
  return {
    all,
    named(name) {
      const kind = byName.get(name)
      if (kind) return kind
      const names = [...byName.keys()].join(', ')
      throw invalidField('/kind', 'unknown_kind', `There is no such kind of connector; there are ${names}.`)
    },
  }
}

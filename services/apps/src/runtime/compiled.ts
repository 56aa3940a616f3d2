import type { DeploymentContents, PinnedResource } from '@opsplane/contracts'
import { parseTemplate, type Template } from '@opsplane/sandbox'
import { LRUCache } from 'lru-cache'

type Source = DeploymentContents['sources'][number]

/** A data source of a deployment with parsed expressions. */
export interface CompiledSource extends Source {
  templates: {
    filter: Template
    search: Template
    values: Template
    input: Template
    result: Template | null
  }
  /** The resource it names, by the id it had when the app was deployed. */
  pinned: PinnedResource | undefined
}

export type CompiledSources = ReadonlyMap<string, CompiledSource>

const maxKept = 200

/** Compiles the sources of a deployment once and caches them. */
export function createSourceCompiler() {
  const kept = new LRUCache<string, CompiledSources>({ max: maxKept })
  return (
    id: string,
    { sources }: DeploymentContents,
    pinned: readonly PinnedResource[],
  ): CompiledSources => {
    const known = kept.get(id)
    if (known) return known
    const compiled = new Map(
      sources.map((source) => [
        source.name,
        compile(
          source,
          pinned.find((each) => each.source === source.name),
        ),
      ]),
    )
    kept.set(id, compiled)
    return compiled
  }
}

function compile(source: Source, pinned: PinnedResource | undefined): CompiledSource {
  const { binding } = source
  const values: Readonly<Record<string, unknown>> = binding
  const of = (name: string) => templateOf(values[name] ?? {})
  return {
    ...source,
    pinned,
    templates: {
      filter: of('filter'),
      search: of('search'),
      values: of('values'),
      input: of('input'),
      result: source.result === null ? null : templateOf(source.result),
    },
  }
}

/** A parse error cannot happen here: the expression was checked when it was saved. */
function templateOf(value: unknown): Template {
  const parsed = parseTemplate(value)
  if ('template' in parsed) return parsed.template
  throw new Error('a deployed expression cannot be parsed')
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a rule or a dashboard asks for: a series of a name, with values its labels have to have. */
export interface Selector {
  name: string
  /** A value each, or a pattern of all of it. */
  labels: Readonly<Record<string, RegExp>>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const folders = ['helm/opsplane/files', 'deploy/observability']
/** Prometheus gives them to a series, not the process. */
const ofPrometheus = new Set(['installation', 'namespace', 'pod', 'instance', 'job', 'release', 'cluster'])
const special = /[.*+?^${}()|[\]\\]/g

/** All that the alert rules and dashboards of the repository name of the platform's own series. */
export function selectorsInUse(): Selector[] {
  const texts = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map(String)
      .filter((file) => /(?:alerts\.yaml|dashboards.*\.json)$/.test(file))
      .map((file) => readFileSync(join(root, folder, file), 'utf8').replaceAll('\\"', '"')),
  )
  return texts.flatMap((text) =>
    [...text.matchAll(/\b(opsplane_|nodejs_|process_)([a-z0-9_]+)(?:\{([^}]*)\})?/g)].map(
      ([, prefix = '', rest = '', matchers = '']) => ({ name: prefix + rest, labels: labelsOf(matchers) }),
    ),
  )
}

/** Matchers that say which value there has to be; one of a variable of a dashboard, or of what it is not, says nothing of that. */
function labelsOf(matchers: string): Record<string, RegExp> {
  return Object.fromEntries(
    [...matchers.matchAll(/([a-z_]+)(=~|=)"([^"]*)"/g)]
      .filter(([, label = '', , value = '']) => !ofPrometheus.has(label) && !value.includes('$'))
      .map(([, label, operator, value = '']) => [
        label,
        new RegExp(`^(?:${operator === '=' ? value.replaceAll(special, '\\$&') : value})$`),
      ]),
  )
}

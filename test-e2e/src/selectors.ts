import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A series that a rule or a dashboard queries: its name, and the required values of its labels. */
export interface Selector {
  name: string
  /** An exact value or an anchored pattern for each label. */
  labels: Readonly<Record<string, RegExp>>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const folders = ['helm/opsplane/files', 'deploy/observability']
/** Labels added by Prometheus, not by the process. */
const ofPrometheus = new Set(['installation', 'namespace', 'pod', 'instance', 'job', 'release', 'cluster'])
const special = /[.*+?^${}()|[\]\\]/g

/** All series of the platform that the alert rules and dashboards of the repository name. */
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

/** Matchers that require a value; negative ones and those with a dashboard variable do not. */
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

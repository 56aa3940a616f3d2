import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { actsForUsers, type BackendName, backendNames, type InternalParty } from '@opsplane/contracts'

/** A route between services, with its allowed callers. */
export interface InternalRoute {
  service: BackendName
  method: string
  path: string
  callers: readonly InternalParty[]
}

type Callers = Readonly<Record<string, readonly InternalParty[]>>

const ofEveryService: Callers = {
  'GET /internal/events': backendNames,
  'GET /internal/events/end': backendNames,
  'GET /internal/routes': ['gateway', 'workflows', 'sdk', 'apps'],
  'GET /internal/operations/figures': ['settings'],
  'GET /internal/operations/workspace-figures': ['settings'],
  'GET /internal/operations/dead-letters': ['settings'],
  'POST /internal/operations/dead-letters/redrive': ['settings'],
  'POST /internal/operations/dead-letters/drop': ['settings'],
}

const dependents: Callers = { 'POST /internal/people/dependents': ['settings'] }

const ofOne: Partial<Record<BackendName, Callers>> = {
  settings: {
    'POST /internal/tokens/verify': ['gateway'],
    'POST /internal/tokens/confirm': ['gateway'],
    'POST /internal/secrets/resolve': ['dispatcher', 'integrations', 'workflows', 'sdk'],
    'POST /internal/secrets/targets': ['dispatcher', 'integrations', 'workflows', 'sdk'],
    'POST /internal/rights': ['dispatcher', 'workflows', 'sdk', 'analytics', 'apps'],
    'POST /internal/members': ['itsm', 'apps', 'workflows'],
    'POST /internal/environment-scope': ['workflows', 'database-studio', 'apps'],
    'POST /internal/retention': ['workflows', 'sdk'],
    'POST /internal/bootstrap': ['operator'],
    'POST /internal/grants': actsForUsers,
    'POST /internal/grants/revoke': actsForUsers,
    'POST /internal/grants/holding': actsForUsers,
    'POST /internal/delegations': actsForUsers,
    'POST /internal/budgets/lease': ['gateway', 'integrations', 'workflows', 'sdk'],
    'POST /internal/rates/spend': ['gateway'],
  },
  itsm: dependents,
  analytics: dependents,
  apps: dependents,
  dispatcher: {
    'GET /internal/deliveries/changes': ['analytics'],
    'GET /internal/operations/webhooks': ['settings'],
    ...dependents,
  },
  integrations: { ...dependents, 'POST /internal/connectors/names': ['workflows', 'sdk'] },
  'database-studio': {
    ...dependents,
    'POST /internal/validations': ['sdk'],
    'POST /internal/tables/names': ['workflows'],
    'POST /internal/queries/names': ['workflows'],
    'POST /internal/read-rules': ['dispatcher', 'workflows', 'sdk', 'settings'],
  },
  workflows: {
    ...dependents,
    'POST /internal/artifacts/uses': ['sdk'],
    'POST /internal/runs/depths': ['sdk'],
  },
  sdk: {
    ...dependents,
    'POST /internal/rules/validate': ['database-studio'],
    'POST /internal/artifacts/needs': ['workflows'],
    'POST /internal/executions/depths': ['workflows'],
    'GET /internal/executions/changes': ['analytics'],
  },
}

/**
 * Every route between services. The routes and their callers are listed here independently of the code, so that a
 * mistake is detected.
 */
export const internalRoutes: readonly InternalRoute[] = backendNames.flatMap((service) =>
  Object.entries({ ...ofEveryService, ...ofOne[service] }).map(([address, callers]) => {
    const [method = '', path = ''] = address.split(' ')
    return { service, method, path, callers }
  }),
)

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Paths below /internal in the code of libs and services. */
export function writtenPaths(): string[] {
  const folders = ['libs', 'services'].flatMap((kind) =>
    readdirSync(`${root}${kind}`).map((name) => `${root}${kind}/${name}/src`),
  )
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => `${folder}/${file}`),
  )
  const paths = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/['"`](\/internal\/[\w/-]+)/g)].map(([, path = '']) => path),
  )
  return [...new Set(paths)]
}

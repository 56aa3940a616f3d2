import type {
  ArtifactPermissions,
  ArtifactTestResult,
  Pack,
  PackCheck,
  PackProblem,
} from '@opsplane/contracts'
import type { Column } from '../table.js'

export const packColumns: Column<Pack>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name, elastic: true },
  { title: 'version', value: ({ packVersion }) => packVersion },
  { title: 'status', value: ({ status }) => status },
  { title: 'artifacts', value: ({ artifacts }) => artifacts.length },
  { title: 'installed', value: ({ updatedAt }) => updatedAt },
]

export const problemLine = ({ file, path, line, column, code, message }: PackProblem): string =>
  `${file}${line === null ? path && `#${path}` : `:${line}:${column}`}: ${message} [${code}]`

const names: Record<keyof Omit<ArtifactPermissions, 'tables'>, string> = {
  api: 'operations of the API',
  http: 'HTTP requests to',
  connectors: 'connectors',
  secrets: 'secrets, sent to their hosts alone',
  secretsPlain: 'secrets, IN PLAIN TEXT',
  topics: 'publishing to topics',
}

/** The requested permissions, one line for each kind. */
export function permissionLines(permissions: ArtifactPermissions): string[] {
  const { tables, ...lists } = permissions
  const kinds = Object.keys(lists) as (keyof typeof lists)[]
  const listLines = kinds.flatMap((kind) =>
    permissions[kind].length === 0 ? [] : [`  ${names[kind]}: ${permissions[kind].join(', ')}`],
  )
  const access = Object.entries(tables).map(([slug, may]) => `${slug} (${may.join(', ')})`)
  const all = access.length === 0 ? listLines : [...listLines, `  records of tables: ${access.join(', ')}`]
  return all.length === 0 ? ['It asks for nothing outside the sandbox.'] : ['It asks for:', ...all]
}

export function checkLines(check: PackCheck): string[] {
  const { name, packVersion, change, installedVersion, artifacts, removes, breaks, missing, problems } = check
  const over = installedVersion === null ? '' : ` over ${installedVersion}`
  return [
    `${name} ${packVersion}: ${change}${over}`,
    ...artifacts.map(({ slug, kind, change }) => `  ${change.padEnd(9)}  ${slug} (${kind})`),
    ...removes.map((slug) => `  removed    ${slug}`),
    ...permissionLines(check.asks),
    ...(missing.length > 0 ? [`You do not hold what that takes: ${missing.join(', ')}`] : []),
    ...breaks.map(
      ({ artifact, kind, name }) => `Still in use: ${artifact} by the ${kind.replace('_', ' ')} ${name}`,
    ),
    ...problems.map(problemLine),
  ]
}

export function testLines(
  slug: string,
  { name, passed, durationMs, differences }: ArtifactTestResult,
): string[] {
  return [
    `${passed ? 'ok  ' : 'FAIL'}  ${slug}: ${name} (${durationMs} ms)`,
    ...differences.flatMap(({ path, message, expected, actual }) => [
      `        ${path === '' ? message : `${path}: ${message}`}`,
      ...(expected === undefined ? [] : [`          expected ${JSON.stringify(expected)}`]),
      ...(actual === undefined ? [] : [`          actual   ${JSON.stringify(actual)}`]),
    ]),
  ]
}

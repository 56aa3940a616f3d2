import {
  AnalyticsDataset,
  Connector,
  ConnectorAction,
  type Permission,
  PermissionName,
  pageBounds,
  Report,
  SavedQuery,
  type SourceBinding,
  Workflow,
} from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'
import { z } from 'zod'
import { type Finding, type Inspected, missingResource, type PlatformReader } from './platform-reader.js'

type BindingOf<Kind extends SourceBinding['kind']> = Extract<SourceBinding, { kind: Kind }>

/** Checks a saved query and its parameters, and pins the query to its version. */
export async function inspectQuery(
  { named }: PlatformReader,
  binding: BindingOf<'query'>,
): Promise<Inspected> {
  const query = await named('listQueries', SavedQuery, binding.query)
  if (!query) return missingResource('query', 'saved query', binding.query)
  const writes: Finding = {
    ...{ path: '/binding/use', code: 'writes' },
    message: 'the query writes, so only actions can use it: `use` has to be `action`',
  }
  const findings = parameterFindings('query', query.parameters, binding.input)
  return {
    pinned: { kind: 'query', id: query.id, name: query.name, version: query.version },
    permissions: query.mode === 'write' ? ['queries:run', 'queries:write'] : ['queries:run'],
    findings: query.mode === 'write' && binding.use === 'data' ? [writes, ...findings] : findings,
  }
}

/** Checks that the connector is enabled and has the action. The connected system need not be reachable. */
export async function inspectConnector(
  { ask, named }: PlatformReader,
  binding: BindingOf<'connector'>,
): Promise<Inspected> {
  const connector = await named('listConnectors', Connector, binding.connector)
  if (!connector) return missingResource('connector', 'connector', binding.connector)
  const { id, name, version, enabled } = connector
  const findings: Finding[] = []
  if (!enabled)
    findings.push({ path: '/binding/connector', code: 'disabled', message: `the connector ${name} is off` })
  const actions = await ask('listConnectorActions', z.array(ConnectorAction), { params: { id } })
  if (actions && !actions.some((action) => action.name === binding.action))
    findings.push({
      path: '/binding/action',
      code: 'unknown_action',
      message: `the connector has no action ${binding.action}`,
    })
  return { pinned: { kind: 'connector', id, name, version }, permissions: ['connectors:invoke'], findings }
}

/** Checks that the workflow has a published version. */
export async function inspectWorkflow(
  { named }: PlatformReader,
  { workflow: reference }: BindingOf<'workflow'>,
): Promise<Inspected> {
  const found = await named('listWorkflows', Workflow, reference)
  if (!found) return missingResource('workflow', 'workflow', reference)
  const { id, name, publishedVersion } = found
  return {
    pinned: { kind: 'workflow', id, name, version: publishedVersion },
    permissions: ['workflows:run'],
    findings:
      publishedVersion === null
        ? [{ path: '/binding/workflow', code: 'not_published', message: `${name} has no published version` }]
        : [],
  }
}

/** Checks a report, and determines the permissions needed to query the data it reads. */
export async function inspectReport(
  { ask, named }: PlatformReader,
  { report: reference, input }: BindingOf<'report'>,
): Promise<Inspected> {
  const found = await named('listReports', Report, reference)
  if (!found) return missingResource('report', 'report', reference)
  const { id, name, version, query, parameters } = found
  const datasets = query.dataset === undefined ? [] : await ask('listDatasets', Datasets, allOfThem)
  const dataset = datasets?.find((each) => each.name === query.dataset)
  const read: Permission[] = [
    ...(dataset ? [PermissionName.parse(dataset.permission)] : []),
    ...(query.table === undefined ? [] : (['tables:read', 'records:read'] as const)),
    ...(query.savedQuery === undefined ? [] : (['queries:run'] as const)),
  ]
  return {
    pinned: { kind: 'report', id, name, version },
    permissions: ['analytics:read', ...read],
    findings: parameterFindings('report', parameters, input),
  }
}

const Datasets = z.array(AnalyticsDataset)
const allOfThem = { query: { limit: pageBounds.items } }

interface Parameter {
  name: string
  required: boolean
  default?: unknown
}

/** Unknown parameters, and missing required ones. */
function parameterFindings(kind: string, parameters: readonly Parameter[], input: object): Finding[] {
  const at = (name: string) => jsonPointer(['binding', 'input', name])
  const unknown = Object.keys(input).filter((name) => !parameters.some((each) => each.name === name))
  const absent = parameters.filter(
    ({ name, required, default: value }) => required && value === undefined && !Object.hasOwn(input, name),
  )
  return [
    ...unknown.map((name) => ({
      ...{ path: at(name), code: 'unknown_parameter', message: `the ${kind} has no parameter ${name}` },
    })),
    ...absent.map(({ name }) => ({
      ...{ path: at(name), code: 'required', message: `the ${kind} takes the parameter ${name}` },
    })),
  ]
}

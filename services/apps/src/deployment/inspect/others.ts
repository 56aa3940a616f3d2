import { Connector, ConnectorAction, SavedQuery, type SourceBinding, Workflow } from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'
import { z } from 'zod'
import { type Asking, type Finding, type Inspected, missing } from './ask.js'

type BindingOf<Kind extends SourceBinding['kind']> = Extract<SourceBinding, { kind: Kind }>

/** A saved query with its parameters. It is pinned to its version. */
export async function inspectQuery({ named }: Asking, binding: BindingOf<'query'>): Promise<Inspected> {
  const query = await named('listQueries', SavedQuery, binding.query)
  if (!query) return missing('query', 'saved query', binding.query)
  const known = new Map(query.parameters.map((parameter) => [parameter.name, parameter]))
  const unknown = Object.keys(binding.input).filter((name) => !known.has(name))
  const absent = query.parameters.filter(
    ({ name, required, default: value }) => required && value === undefined && !(name in binding.input),
  )
  const at = (name: string) => jsonPointer(['binding', 'input', name])
  return {
    pinned: { kind: 'query', id: query.id, name: query.name, version: query.version },
    permissions: query.mode === 'write' ? ['queries:run', 'queries:write'] : ['queries:run'],
    findings: [
      ...unknown.map(
        (name): Finding => ({
          ...{ path: at(name), code: 'unknown_parameter', message: `the query has no parameter ${name}` },
        }),
      ),
      ...absent.map(
        ({ name }): Finding => ({
          ...{ path: at(name), code: 'required', message: `the query takes the parameter ${name}` },
        }),
      ),
    ],
  }
}

/** A connector that is enabled, and has the action; what it is connected to need not answer. */
export async function inspectConnector(
  { ask, named }: Asking,
  binding: BindingOf<'connector'>,
): Promise<Inspected> {
  const connector = await named('listConnectors', Connector, binding.connector)
  if (!connector) return missing('connector', 'connector', binding.connector)
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

/** A workflow with a version that can be run. */
export async function inspectWorkflow(
  { named }: Asking,
  { workflow: reference }: BindingOf<'workflow'>,
): Promise<Inspected> {
  const found = await named('listWorkflows', Workflow, reference)
  if (!found) return missing('workflow', 'workflow', reference)
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

const Report = z.object({ id: z.string(), name: z.string(), version: z.int() })

/** A report of analytics. */
export async function inspectReport(
  { named }: Asking,
  { report: reference }: BindingOf<'report'>,
): Promise<Inspected> {
  const found = await named('listReports', Report, reference)
  if (!found) return missing('report', 'report', reference)
  const { id, name, version } = found
  return { pinned: { kind: 'report', id, name, version }, permissions: ['analytics:read'], findings: [] }
}

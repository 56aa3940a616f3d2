import {
  WorkflowDefinition,
  WorkflowDiff,
  WorkflowVersion,
  WorkflowVersionWithDefinition,
} from '@opsplane/contracts'
import { defineList, defineRoute, diffDocuments, type Route } from '@opsplane/http'
import { z } from 'zod'
import { tag } from './routes.js'
import { shownVersion } from './versions.js'
import type { Workflows } from './workflows.js'

const reading = { tag, scope: 'workflows:read' } as const

const document = z.record(z.string(), z.unknown()).meta({ id: 'JsonSchemaDocument' })

/** Routes for reading versions and the schema of definitions. */
export function versionRoutes(workflows: Workflows): Route[] {
  const { versions } = workflows
  return [
    defineRoute({
      ...reading,
      operationId: 'getWorkflowSchema',
      method: 'get',
      path: '/workflows/schema',
      summary: 'Get the JSON Schema of workflow definitions',
      description:
        'JSON Schema (draft 2020-12) for editors: every kind of step and trigger, with descriptions of its fields.',
      response: document,
      handler: async () => definitionSchema(),
    }),

    defineList({
      ...reading,
      operationId: 'listWorkflowVersions',
      path: '/workflows/:id/versions',
      summary: 'List the versions of a workflow',
      description: 'Newest first.',
      sorts: [],
      response: WorkflowVersion,
      handler: async ({ params, query: { limit, after }, binding, meta: { tenant } }) => {
        const found = await workflows.aggregate.get(params.id, tenant)
        return versions.list(found, tenant, { limit, after, binding })
      },
    }),

    defineRoute({
      ...reading,
      operationId: 'getWorkflowVersion',
      method: 'get',
      path: '/workflows/:id/versions/:number',
      summary: 'Get a version of a workflow',
      description: 'Returns the version with its definition as published. A version never changes.',
      response: WorkflowVersionWithDefinition,
      handler: async ({ params, meta: { tenant } }) => {
        const found = await workflows.aggregate.get(params.id, tenant)
        const version = await workflows.version(found.id, parseNumber(params.number), tenant)
        return { ...shownVersion(version, found.publishedVersion), definition: version.definition }
      },
    }),

    defineRoute({
      ...reading,
      operationId: 'diffWorkflowVersions',
      method: 'get',
      path: '/workflows/:id/versions/:number/diff/:other',
      summary: 'Compare two versions of a workflow',
      description:
        'Returns the changes from the first version to the second, as JSON pointers. Steps are matched by their ids; ' +
        'if steps changed places, the list contains the ids in their order. At most 1,000 changes.',
      response: WorkflowDiff,
      handler: async ({ params, meta: { tenant } }) => {
        const [from, to] = await Promise.all(
          [params.number, params.other].map((number) =>
            workflows.version(params.id, parseNumber(number), tenant),
          ),
        )
        if (!from || !to) throw new Error('two versions were asked for')
        return { from: from.number, to: to.number, changes: diffDocuments(from.definition, to.definition) }
      },
    }),
  ]
}

/** Returns NaN, which is no version, unless the number is in canonical form: each resource has one URL. */
const parseNumber = (text: string): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN)

let schema: Record<string, unknown> | undefined

/** Created on first use. */
function definitionSchema(): Record<string, unknown> {
  schema ??= {
    title: 'Workflow definition',
    ...z.toJSONSchema(WorkflowDefinition, { io: 'input', target: 'draft-2020-12' }),
  }
  return schema
}

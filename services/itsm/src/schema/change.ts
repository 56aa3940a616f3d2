import { readModelTable, searchColumn, searchIndex, stateInteger, stateText } from '@opsplane/postgres'
import { isNotNull, sql } from 'drizzle-orm'
import { customType, index, integer, text, uniqueIndex } from 'drizzle-orm/pg-core'

const jsonb = customType<{ data: string }>({ dataType: () => 'jsonb' })

export const changes = readModelTable(
  'changes',
  {
    /** The number in `CHG-12`. Sorts numerically and finds a change by its number. */
    numberValue: integer('number_value').generatedAlwaysAs(
      sql.raw(`substring(state->>'number' from 5)::integer`),
    ),
    status: stateText('status', 'status'),
    type: stateText('type', 'type'),
    risk: stateText('risk', 'risk'),
    assigneeId: stateText('assignee_id', 'assigneeId'),
    assignmentGroup: stateText('assignment_group', 'assignmentGroup'),
    requesterId: stateText('requester_id', 'requesterId'),
    problemId: stateText('problem_id', 'problemId'),
    templateId: stateText('template_id', 'templateId'),
    plannedStart: stateText('planned_start', 'plannedStart'),
    plannedEnd: stateText('planned_end', 'plannedEnd'),
    /** Sort column: unplanned changes come after all planned ones. */
    plannedOrder: text('planned_order').generatedAlwaysAs(
      sql.raw(`coalesce(state->>'plannedStart', '9999')`),
    ),
    updatedAt: stateText('updated_at', 'updatedAt'),
    ciIds: jsonb('ci_ids').generatedAlwaysAs(sql.raw(`(state->'ciIds')::jsonb`)),
    search: searchColumn('search', { names: ['number', 'title'], text: ['description'] }),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      uniqueIndex('changes_number_key').on(workspaceId, table.numberValue),
      index('changes_created_idx').on(workspaceId, environment, createdAt, id),
      index('changes_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('changes_planned_idx').on(workspaceId, environment, table.plannedOrder, id),
      index('changes_status_idx').on(workspaceId, environment, table.status, createdAt, id),
      index('changes_type_idx').on(workspaceId, environment, table.type, createdAt, id),
      index('changes_risk_idx').on(workspaceId, environment, table.risk, createdAt, id),
      searchIndex('changes_search_idx', workspaceId, table.search),
      index('changes_assignee_idx')
        .on(workspaceId, environment, table.assigneeId, createdAt, id)
        .where(isNotNull(table.assigneeId)),
      index('changes_group_idx')
        .on(workspaceId, environment, table.assignmentGroup, createdAt, id)
        .where(isNotNull(table.assignmentGroup)),
      index('changes_requester_idx').on(workspaceId, environment, table.requesterId, createdAt, id),
      index('changes_problem_idx')
        .on(workspaceId, environment, table.problemId, createdAt, id)
        .where(isNotNull(table.problemId)),
      index('changes_template_idx')
        .on(workspaceId, environment, table.templateId, createdAt, id)
        .where(isNotNull(table.templateId)),
      // Item ids are unique across tenants, so the index does not contain the tenant. Queries still filter by tenant.
      index('changes_ci_idx').using('gin', table.ciIds),
    ]
  },
)

/** Few per tenant. All active ones are read when a change is submitted. */
export const changePolicies = readModelTable(
  'change_policies',
  {
    status: stateText('status', 'status'),
    order: stateInteger('policy_order', 'order'),
    name: stateText('name', 'name'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    search: searchColumn('search', { names: ['name'] }),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      index('change_policies_created_idx').on(workspaceId, environment, createdAt, id),
      index('change_policies_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('change_policies_name_idx').on(workspaceId, environment, table.name, id),
      index('change_policies_order_idx').on(workspaceId, environment, table.order, id),
      index('change_policies_status_idx').on(workspaceId, environment, table.status, createdAt, id),
      searchIndex('change_policies_search_idx', workspaceId, table.search),
    ]
  },
)

/** Templates of standard changes. */
export const changeTemplates = readModelTable(
  'change_templates',
  {
    status: stateText('status', 'status'),
    name: stateText('name', 'name'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    search: searchColumn('search', { names: ['name', 'title'], text: ['description'] }),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      index('change_templates_created_idx').on(workspaceId, environment, createdAt, id),
      index('change_templates_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('change_templates_name_idx').on(workspaceId, environment, table.name, id),
      index('change_templates_status_idx').on(workspaceId, environment, table.status, createdAt, id),
      searchIndex('change_templates_search_idx', workspaceId, table.search),
    ]
  },
)

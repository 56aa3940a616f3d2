import { readModelTable, stateInteger, stateText } from '@opsplane/postgres'
import { index, uniqueIndex } from 'drizzle-orm/pg-core'

export const deployments = readModelTable(
  'deployments',
  {
    appId: stateText('app_id', 'appId'),
    status: stateText('status', 'status'),
    number: stateInteger('number', 'number'),
  },
  (table) => {
    const { workspaceId, environment, appId } = table
    return [
      index('deployments_created_idx').on(workspaceId, environment, appId, table.createdAt, table.id),
      uniqueIndex('deployments_number_key').on(workspaceId, environment, appId, table.number),
    ]
  },
)

/**
 * Pages and data sources of a deployment, and the grant its embeds act with. Too large for its event, and never
 * changed.
 */
export const deploymentContents = readModelTable('deployment_contents', {})

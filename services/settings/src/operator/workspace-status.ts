import type { WorkspaceStatus } from '@opsplane/contracts'
import type { StatusClient } from './status-client.js'

/** Counts of the due work and dead letters of one workspace, for its owners. */
export async function workspaceStatus(
  statusClient: StatusClient,
  workspaceId: string,
): Promise<WorkspaceStatus> {
  const [services, webhooks] = await Promise.all([
    statusClient.services((service) => service.workspaceFigures(workspaceId)),
    statusClient.webhooks({ workspaceId }),
  ])
  return { services, webhooks: webhooks && { waiting: webhooks.items, paused: webhooks.paused } }
}

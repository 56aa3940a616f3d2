import type { WorkspaceStatus } from '@opsplane/contracts'
import type { StatusClient } from './status-client.js'

/** What is left to do for one workspace, and what was given up: counts, for those who own it. */
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

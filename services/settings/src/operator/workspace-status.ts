import type { WorkspaceStatus } from '@opsplane/contracts'
import type { Asking } from './asking.js'

/** What is left to do for one workspace, and what was given up: counts, for those who own it. */
export async function workspaceStatus(asking: Asking, workspaceId: string): Promise<WorkspaceStatus> {
  const [services, webhooks] = await Promise.all([
    asking.services((service) => service.workspaceFigures(workspaceId)),
    asking.webhooks({ workspaceId }),
  ])
  return { services, webhooks: webhooks && { waiting: webhooks.items, paused: webhooks.paused } }
}

import { ChangeTemplate } from '@opsplane/contracts'
import type { ApiClient } from '@opsplane/testing'

/** A template of the workspace that leaves standard changes as free as can be. Its id. */
export async function newTemplate(api: ApiClient, fields: object = {}): Promise<string> {
  const plans = { implementationPlan: 'Swap them.', backoutPlan: 'Swap them back.' }
  const body = { name: 'Swap disks', title: 'New disks', impact: 'medium', ...plans, ...fields }
  return (await api.post('/itsm/change-templates', body)).data(ChangeTemplate).id
}

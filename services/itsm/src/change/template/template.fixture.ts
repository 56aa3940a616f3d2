import { ChangeTemplate } from '@opsplane/contracts'
import type { ApiClient } from '@opsplane/testing'

/** Creates a template with as few limits as possible for its standard changes. Returns its id. */
export async function newTemplate(api: ApiClient, fields: object = {}): Promise<string> {
  const plans = { implementationPlan: 'Swap them.', backoutPlan: 'Swap them back.' }
  const body = { name: 'Swap disks', title: 'New disks', impact: 'medium', ...plans, ...fields }
  return (await api.post('/itsm/change-templates', body)).data(ChangeTemplate).id
}

import { CatalogItem, CatalogRequest, newId, type Principal } from '@opsplane/contracts'
import { type ApiClient, type SharedService, testPrincipal } from '@opsplane/testing'

/** Permissions of an ordinary employee. */
export const requesterPermissions = ['catalog:read', 'catalog:request']

/** Users with the different roles of a catalogue, in a separate workspace. */
export function team(service: SharedService) {
  const home = testPrincipal()
  const member = (permissions: string[]) => {
    const id = newId('user')
    const principal: Principal = {
      ...home,
      userId: id,
      actor: { id, name: id, type: 'user' },
      permissions,
    }
    return { id, principal, api: service.as(principal) }
  }
  return {
    manager: member([...requesterPermissions, 'catalog:write']),
    ada: member(requesterPermissions),
    ben: member(requesterPermissions),
    approver: member(['catalog:read', 'itsm:approve']),
    other: member(['catalog:read', 'itsm:approve']),
  }
}
export type Team = ReturnType<typeof team>

const size = { type: 'object', properties: { size: { type: 'integer', minimum: 13, default: 15 } } }
export const draft = async ({ manager }: Team, fields: object = {}) =>
  (await manager.api.post('/catalog/items', { name: 'Laptop', formSchema: size, ...fields })).data(
    CatalogItem,
  )
export async function createActiveItem(members: Team, fields: object = {}): Promise<CatalogItem> {
  const { id } = await draft(members, fields)
  return (await members.manager.api.post(`/catalog/items/${id}/activate`)).data(CatalogItem)
}
export const order = async (api: ApiClient, item: { id: string }, fields: object = {}) =>
  (await api.post('/catalog/requests', { itemId: item.id, ...fields })).data(CatalogRequest)
export const listIds = async (api: ApiClient, path: string) =>
  (await api.get(path)).page(CatalogItem.or(CatalogRequest)).items.map(({ id }) => id)
/** Reads a whole list page by page, following its cursors. */
export async function listAllIds(api: ApiClient, path: string): Promise<string[]> {
  const ids: string[] = []
  for (let after = ''; ; ) {
    const reply = await api.get(`${path}&limit=1${after}`)
    const { items, pagination } = reply.page(CatalogItem.or(CatalogRequest))
    ids.push(...items.map(({ id }) => id))
    if (pagination.nextCursor === null) return ids
    after = `&after=${encodeURIComponent(pagination.nextCursor)}`
  }
}
/** A rule that requires the approver's approval. */
export const rules = ({ approver }: Team) => [{ name: 'Budget', approverIds: [approver.id] }]
export const tasks = [
  { key: 'order', name: 'Order it' },
  { key: 'deliver', name: 'Deliver it', dependsOn: ['order'], assigneeId: 'usr_tim' },
]

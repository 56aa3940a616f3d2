import { artifact } from '@opsplane/sdk'

interface Input {
  url: string
  /** Name of the source inventory; inventory and item together identify one configuration item. */
  source: string
  class: string
  /** Whether the request carries the secret `inventory_token`. */
  token?: boolean
}
type Item = { id: string; name: string; attributes?: { [name: string]: string | number | boolean | null } }
type ConfigurationItem = { id: string }

export default artifact<Input>(async ({ url, source, class: itemClass, token = false }, host) => {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (token) headers.authorization = `Bearer ${await host.secret({ name: 'inventory_token' })}`
  const answer = await host.http<Item | null>({ url, headers })
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`)
  const item = answer.body
  if (typeof item?.id !== 'string' || typeof item.name !== 'string')
    throw new Error(`${url} gave no item with an id and a name`)
  const { id: nativeKey, name, attributes = {} } = item
  const { data: known } = await host.api<ConfigurationItem[]>({
    operation: 'listConfigurationItems',
    query: { source, nativeKey, limit: 1 },
  })
  const fields = { name, attributes, lastSeenAt: host.context.now }
  const [found] = known
  if (found) {
    await host.api({ operation: 'updateConfigurationItem', params: { id: found.id }, body: fields })
    return { id: found.id, change: 'updated' }
  }
  const { data: created } = await host.api<ConfigurationItem>({
    operation: 'createConfigurationItem',
    body: { class: itemClass, source, nativeKey, status: 'operational', ...fields },
  })
  return { id: created.id, change: 'created' }
})

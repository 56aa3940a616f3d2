import { bootstrapOwner, type Cluster } from '@opsplane/local'

/** Creates another workspace and returns the headers with its owner's key. */
export async function secondTenant(
  { secrets, services, tls, info }: Cluster,
  slug = 'second-tenant',
): Promise<Record<string, string>> {
  const { apiKey: _, ...first } = secrets.owner
  const owner = { ...first, workspace: slug, email: `${slug}@example.com` }
  const { apiKey, workspace } = await bootstrapOwner({
    secrets: { ...secrets, owner },
    settingsUrl: services.settings.url,
    tls,
    origin: info.origin,
  })
  return { authorization: `Bearer ${apiKey}`, 'x-workspace': workspace }
}

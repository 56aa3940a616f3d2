import { natsNames, operator, type ServiceName, serviceNames } from '@opsplane/contracts'
import { buildUserUrl, formatAuthorization, natsUsers } from '@opsplane/nats'
import { mapNames } from './map-names.js'
import type { LocalSecrets } from './secrets.js'

/** What the NATS server of a local run knows of its users, whose subjects begin with `prefix`. */
export const natsAuthorization = (
  {
    natsPasswords: passwords,
    natsSubscribers: subscribers,
  }: Pick<LocalSecrets, 'natsPasswords' | 'natsSubscribers'>,
  prefix?: string,
) => formatAuthorization(natsUsers({ names: natsNames(prefix), passwords, subscribers }))

/** With which URL the operator connects, and each service. */
export function buildNatsUrls(
  url: string,
  passwords: Readonly<Record<string, string>>,
): { natsUrl: string; natsUrls: Record<ServiceName, string> } {
  const urlOf = (user: string) => buildUserUrl(url, { user, password: passwords[user] ?? '' })
  return { natsUrl: urlOf(operator), natsUrls: mapNames(serviceNames, urlOf) }
}

import { natsNames, operator, type ServiceName, serviceNames } from '@opsplane/contracts'
import { buildUserUrl, formatAuthorization, natsUsers } from '@opsplane/nats'
import { mapNames } from './map-names.js'
import type { LocalSecrets } from './secrets.js'

/** NATS server configuration of the users of a local run, whose subjects begin with `prefix`. */
export const natsAuthorization = (
  {
    natsPasswords: passwords,
    natsSubscribers: subscribers,
  }: Pick<LocalSecrets, 'natsPasswords' | 'natsSubscribers'>,
  prefix?: string,
) => formatAuthorization(natsUsers({ names: natsNames(prefix), passwords, subscribers }))

/** The NATS URL of the operator, and that of each service. */
export function buildNatsUrls(
  url: string,
  passwords: Readonly<Record<string, string>>,
): { natsUrl: string; natsUrls: Record<ServiceName, string> } {
  const urlOf = (user: string) => buildUserUrl(url, { user, password: passwords[user] ?? '' })
  return { natsUrl: urlOf(operator), natsUrls: mapNames(serviceNames, urlOf) }
}

import { natsNames, operator, type ServiceName, serviceNames } from '@opsplane/contracts'
import { authorizationOf, natsUsers, urlOfUser } from '@opsplane/nats'
import { eachOf } from './service-plan.js'

type Passwords = Readonly<Record<string, string>>

/** What the NATS server of a local run is told of its users. */
export const natsAuthorization = (passwords: Passwords) =>
  authorizationOf(natsUsers({ names: natsNames(), passwords }))

/** With which URL the operator connects, and each service. */
export function natsUrlsOf(
  url: string,
  passwords: Passwords,
): { natsUrl: string; natsUrls: Record<ServiceName, string> } {
  const urlOf = (user: string) => urlOfUser(url, { user, password: passwords[user] ?? '' })
  return { natsUrl: urlOf(operator), natsUrls: eachOf(serviceNames, urlOf) }
}

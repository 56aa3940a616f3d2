import { randomBytes } from 'node:crypto'
import { type Environment, internalParties, type NatsNames } from '@opsplane/contracts'
import {
  buildUserUrl,
  ensureConsumer,
  formatAuthorization,
  type NatsSubscriber,
  natsUsers,
  subscriberUser,
} from '@opsplane/nats'
import { reloadUsers } from '@opsplane/nats/embedded'
import { natsAuthorization } from './nats-users.js'
import { OpsError, type Target, withNats } from './ops-target.js'
import { openState, runningPlatform } from './state.js'

export interface NewSubscriber {
  name: string
  /** Tenant whose events the subscriber reads. */
  tenant: { workspaceId: string; environment?: Environment }
  /** Event types and `prefix.*`, or `*`. */
  patterns: readonly string[]
  start: 'oldest' | 'new'
}

export interface AddedSubscriber {
  /** URL with the user's password; only shown here. */
  url: string
  durable: string
  /** Configuration for an external server, which has to be reloaded; `null` if the local server was updated. */
  config: string | null
}

const newPassword = () => randomBytes(18).toString('base64url')
const nameRule = /^[a-z0-9][a-z0-9-]{0,39}$/

/**
 * Creates a durable for one service of a customer, and a user that can only read from it. The local run's server is
 * updated immediately; for an external server the user's entry is returned. Throws OpsError.
 */
export async function addSubscriber(
  { target, home }: { target: Target; home: string },
  { name, tenant, patterns, start }: NewSubscriber,
): Promise<AddedSubscriber> {
  if (!nameRule.test(name))
    throw new OpsError('refused', 'A name is of lower-case letters, digits and dashes.')
  const { url, names } = target.nats()
  const subscriber = { name, password: newPassword(), durable: `sub-${name}` }
  const isLocal = runningPlatform(home)?.natsUrl === url
  if (
    isLocal &&
    openState(home)
      .secrets()
      .natsSubscribers.some((other) => other.name === name)
  )
    throw new OpsError('refused', `There is a subscriber ${name} already.`)
  await withNats(url, async (link) => {
    const made = await ensureConsumer(await link.ready(), {
      ...{ stream: names.eventsStream, durable: subscriber.durable, start },
      filterSubjects: names.eventFilters(patterns, tenant),
    })
    if (!made) throw new OpsError('refused', `There is a durable ${subscriber.durable} already.`)
  })
  const config = isLocal ? null : entryOf(names, subscriber)
  if (isLocal) keepLocally(home, subscriber)
  const user = subscriberUser(name)
  return {
    url: buildUserUrl(url, { user, password: subscriber.password }),
    durable: subscriber.durable,
    config,
  }
}

/** Configuration of the users of an external server, with new passwords. */
export function natsConfig(names: NatsNames): string {
  const passwords = Object.fromEntries(internalParties.map((party) => [party, newPassword()]))
  return formatAuthorization(natsUsers({ names, passwords }))
}

function keepLocally(home: string, subscriber: NatsSubscriber): void {
  const state = openState(home)
  const kept = state.secrets()
  const secrets = { ...kept, natsSubscribers: [...kept.natsSubscribers, subscriber] }
  state.saveSecrets(secrets)
  reloadUsers(state.natsDir, natsAuthorization(secrets))
}

const entryOf = (names: NatsNames, subscriber: NatsSubscriber) =>
  formatAuthorization(
    natsUsers({ names, passwords: {}, subscribers: [subscriber] }).filter(
      ({ user }) => user === subscriberUser(subscriber.name),
    ),
  )

import {
  type NatsNames,
  PlatformEvent,
  type Principal,
  parseExact,
  rightsEventTypes,
} from '@opsplane/contracts'
import { type NatsLink, NatsLinkClosedError } from '@opsplane/nats'
import type { Logger } from '@opsplane/runtime'
import type { OpenAnswers } from './open-answers/open-answers.js'
import type { TokenCache } from './token-cache.js'

/** Resource kinds whose events affect a whole workspace. */
const ofWholeWorkspace = new Set<string>(['role', 'workspace'])

/**
 * Removes cached principals and confirmations of open responses as soon as an event says that they may have changed.
 * Only an optimization: without it they expire by their time to live. Returns a function that stops it.
 */
export function watchRevocations(options: {
  link: NatsLink
  names: NatsNames
  tokens: Pick<TokenCache, 'forget'>
  openAnswers: Pick<OpenAnswers, 'forget'>
  log: Logger
}): { close(): void } {
  const { link, names, tokens, openAnswers, log } = options
  let closed = false

  const onEvent = (bytes: Uint8Array, wholeWorkspace: boolean) => {
    const event = parseEvent(bytes)
    if (event === null) return log.warn('a message on an event subject is not a platform event')
    const ids = concernedIds(event)
    const matches = (principal: Principal) =>
      wholeWorkspace
        ? principal.workspaceId === event.workspaceId || principal.workspaceId === event.resource.id
        : concerns(principal, ids)
    tokens.forget(matches)
    openAnswers.forget(matches)
  }

  const listen = async () => {
    while (!closed) {
      const connection = await link.ready()
      for (const kind of rightsEventTypes) {
        const wholeWorkspace = ofWholeWorkspace.has(kind)
        connection.subscribe(names.eventSubjects.replace('>', `*.*.${kind}.>`), {
          callback: (error, message) => {
            if (!error && !closed) onEvent(message.data, wholeWorkspace)
          },
        })
      }
      // The client restores subscriptions when it reconnects; the link replaces the client if it gave up.
      await connection.closed()
    }
  }

  listen().catch((error: unknown) => {
    if (!(error instanceof NatsLinkClosedError))
      log.error(
        { err: error },
        'cannot subscribe to revocations; revoked tokens are refused once their cached check expires',
      )
  })
  return {
    close: () => {
      closed = true
    },
  }
}

function parseEvent(bytes: Uint8Array): PlatformEvent | null {
  try {
    return PlatformEvent.parse(parseExact(Buffer.from(bytes).toString()))
  } catch {
    return null
  }
}

/** The ids of the resource and of its owner. */
function concernedIds(event: PlatformEvent): Set<unknown> {
  const { before, after } = event.data
  return new Set([event.resource.id, ...[before, after].flatMap((state) => [state?.id, state?.userId])])
}

const concerns = (principal: Principal, ids: Set<unknown>) =>
  ids.has(principal.tokenId) || ids.has(principal.userId) || ids.has(principal.actor.id)

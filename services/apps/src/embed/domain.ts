import {
  alreadyExists,
  assertNever,
  type Decider,
  EmbedTokenState,
  type Instant,
  notFound,
} from '@opsplane/contracts'
import { z } from 'zod'

/** An embed token as stored: includes the session or key that created it, which no event or response contains. */
export const StoredEmbedToken = EmbedTokenState.extend({ makerTokenId: z.string().default('') })
export type StoredEmbedToken = z.infer<typeof StoredEmbedToken>

export type EmbedTokenCommand = { kind: 'create'; state: StoredEmbedToken } | { kind: 'revoke'; now: Instant }

/** A token that embeds an app until it expires or is revoked. */
export const embedToken: Decider<StoredEmbedToken, EmbedTokenCommand, EmbedTokenState> = {
  resourceType: 'embed_token',
  table: 'embed_tokens',
  decide(command, state) {
    switch (command.kind) {
      case 'create':
        if (state !== null) throw alreadyExists('embed token')
        return [{ type: 'embed_token.created', after: command.state }]
      case 'revoke': {
        if (state === null) throw notFound()
        if (state.revokedAt !== null) return []
        const { now } = command
        return [{ type: 'embed_token.revoked', after: { ...state, revokedAt: now, updatedAt: now } }]
      }
      default:
        return assertNever(command)
    }
  },
  expose: ({ makerTokenId: _, ...state }) => state,
  describe: ({ id }) => ({ displayName: id }),
}

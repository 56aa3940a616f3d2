import {
  ApiError,
  AuditCheckpoint,
  AuditCheckpointKey,
  AuditVerification,
  AuditVerifyRange,
  AuditVerifyRequest,
} from '@opsplane/contracts'
import { defineList, defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import { createConcurrencyLimiter, createSemaphore } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import type { CheckpointSigner } from './checkpoint.js'
import { createCheckpoint, listCheckpoints } from './checkpoints.js'
import { createVerify, type SubmittedCheckpoint } from './verify.js'

const tag = 'Audit log'
const scope = 'audit:read'
/** Budget of one verification in milliseconds, well below the gateway's response timeout. */
const budgetMs = 10_000
/** Limits clients that verify a log repeatedly, because this service also verifies every token. */
const verificationsAtOnce = 1
/** Maximum number of log windows read concurrently for all workspaces, which take turns. */
const windowsAtOnce = 4

/** Routes to verify the audit log. They cover the workspace with all environments. */
export function auditChainRoutes(ctx: ServiceContext, signer: CheckpointSigner): Route[] {
  const { cursors } = ctx
  const { db } = ctx.database
  const semaphore = createSemaphore(windowsAtOnce)
  const verify = createVerify({
    db,
    signer,
    cursors,
    monotonicMs: () => performance.now(),
    budgetMs,
    semaphore,
  })
  const limiter = createConcurrencyLimiter({
    perKey: verificationsAtOnce,
    refusal: () =>
      new ApiError('service_unavailable', 'The audit log is being verified already. Try again in a moment.'),
  })
  const verified = (
    range: AuditVerifyRange,
    { tenant, signal }: RequestMeta,
    submittedCheckpoint?: SubmittedCheckpoint,
  ) => limiter.run(tenant.workspaceId, () => verify(tenant.workspaceId, range, submittedCheckpoint, signal()))

  return [
    defineRoute({
      operationId: 'verifyAudit',
      method: 'get',
      path: '/audit/verify',
      summary: 'Verify the audit log',
      description:
        'Verifies the chain of the workspace across all its environments and compares it with the stored ' +
        'checkpoints. Stops at the first problem, and after 10 s: continue with `nextCursor`. Only one verification ' +
        'runs per workspace; while another is running, returns 503.',
      ...{ tag, scope, waits: true },
      query: AuditVerifyRange,
      response: AuditVerification,
      errors: ['invalid_cursor'],
      handler: ({ query, meta }) => verified(query, meta),
    }),

    defineRoute({
      operationId: 'verifyAuditAgainstCheckpoint',
      method: 'post',
      path: '/audit/verify',
      summary: 'Verify the audit log against an external checkpoint',
      description:
        'Works like `GET /audit/verify`; in addition, the chain must contain the end that the checkpoint signed.',
      ...{ tag, scope, waits: true },
      query: AuditVerifyRange,
      body: AuditVerifyRequest,
      response: AuditVerification,
      errors: ['invalid_cursor'],
      idempotency: 'none',
      handler: ({ query, body, meta }) =>
        verified(query, meta, checkSubmitted(body, signer, meta.tenant.workspaceId)),
    }),

    defineRoute({
      operationId: 'createAuditCheckpoint',
      method: 'post',
      path: '/audit/checkpoints',
      summary: 'Create a signed checkpoint of the audit log',
      description:
        'Signs the current end of the audit log. Store the checkpoint outside the platform: it proves later that no ' +
        'event before it was changed or removed.',
      ...{ tag, scope },
      response: AuditCheckpoint,
      status: 201,
      errors: ['conflict'],
      idempotency: 'none',
      handler: async ({ meta: { tenant, now } }) => {
        const checkpoint = await createCheckpoint(ctx.database.sql, signer, tenant.workspaceId, now)
        if (checkpoint) return checkpoint
        throw new ApiError('conflict', 'The audit log of the workspace has no events yet.')
      },
    }),

    defineList({
      operationId: 'listAuditCheckpoints',
      path: '/audit/checkpoints',
      summary: 'List checkpoints of the audit log',
      description: 'Newest first. A checkpoint is created for every 1000 events, and each hour with events.',
      ...{ tag, scope },
      sorts: [],
      response: AuditCheckpoint,
      handler: ({ query: { limit, after }, binding, meta: { tenant } }) =>
        listCheckpoints(db, { workspaceId: tenant.workspaceId, limit, after, binding, cursors }),
    }),

    defineRoute({
      operationId: 'getAuditCheckpointKey',
      method: 'get',
      path: '/audit/checkpoints/key',
      summary: 'Get the public key of checkpoints',
      description:
        'Returns an Ed25519 key in SPKI form, to verify signatures of checkpoints without the platform.',
      ...{ tag, scope },
      response: AuditCheckpointKey,
      handler: async () => signer.key,
    }),
  ]
}

/**
 * Throws `validation_failed` for a checkpoint of another workspace, or one with an invalid signature of this
 * service's key.
 */
function checkSubmitted(
  { checkpoint }: AuditVerifyRequest,
  signer: CheckpointSigner,
  workspaceId: string,
): SubmittedCheckpoint {
  if (checkpoint.workspaceId !== workspaceId) {
    throw checkpointError('/checkpoint/workspaceId', 'is not the workspace of this request')
  }
  const signature = signer.check(checkpoint)
  if (signature === 'invalid') throw checkpointError('/checkpoint/signature', 'does not match the checkpoint')
  return { checkpoint, signature }
}

function checkpointError(path: string, message: string): ApiError {
  return new ApiError('validation_failed', `The checkpoint cannot be used: ${path} ${message}.`, {
    details: [{ in: 'body', path, code: 'invalid_value', message }],
  })
}

import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { Actor } from '../core/principal.js'

const At = z.iso.datetime({ precision: 3 })

/** How many of the approvers must approve. `percent` is relative to the named approvers, rounded up. */
export const WaitFor = z.union(
  [
    z.enum(['first', 'all']),
    z.strictObject({ count: z.int().min(1).max(100) }),
    z.strictObject({ percent: z.int().min(1).max(100) }),
  ],
  'must be "first", "all", {"count": 2} or {"percent": 50}',
)

/** Who must approve. Without names: anyone allowed to approve. `all` and `percent` require names. */
export const ApprovalRule = z
  .strictObject({
    name: z.string().trim().min(1).max(100).meta({ example: 'Change advisory board' }),
    approverIds: z
      .array(z.string().trim().min(1).max(100))
      .min(1)
      .max(100)
      .overwrite((ids) => [...new Set(ids)])
      .nullable()
      .default(null)
      .meta({ description: 'User ids of the approvers. `null` for anyone with the permission to approve.' }),
    waitFor: WaitFor.default('first'),
  })
  .meta({ id: 'ApprovalRule', example: { name: 'Advisory board', waitFor: { count: 2 } } })
export type ApprovalRule = z.infer<typeof ApprovalRule>

/** Immutable once made. */
export const ApprovalDecision = z.object({
  by: Actor,
  userId: z.string().meta({ description: 'The user who decided, even if an API key was used.' }),
  decision: z.enum(['approved', 'rejected']),
  comment: z.string().nullable(),
  contentHash: z.string().meta({ description: 'SHA-256 of the content on which the decision was made.' }),
  at: At,
})
export type ApprovalDecision = z.infer<typeof ApprovalDecision>

export const Approval = z
  .object({
    id: idSchema('approval'),
    name: z.string(),
    approverIds: z.array(z.string()).nullable(),
    excludedIds: z
      .array(z.string())
      .meta({ description: 'Users who may not decide because they requested or worked on the content.' }),
    required: z.int().min(1).meta({ description: 'Number of approvals required.' }),
    contentHash: z.string(),
    status: z.enum(['pending', 'approved', 'rejected', 'void']),
    decisions: z.array(ApprovalDecision),
    requestedAt: At,
    endedAt: At.nullable(),
  })
  .meta({ id: 'Approval' })
export type Approval = z.infer<typeof Approval>

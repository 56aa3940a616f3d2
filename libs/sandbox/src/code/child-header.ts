import { z } from 'zod'
import { codeFailures } from './protocol.js'

const Run = { run: z.int(), lengths: z.array(z.int().min(0)) }
const Used = { ...Run, cpuMs: z.number().min(0), memoryMb: z.number().min(0) }

export const ChildHeader = z.discriminatedUnion('op', [
  /** The run that the child computes from now on. */
  z.object({ op: z.literal('at'), ...Run }),
  /** The run has nothing to compute until one of its host calls is answered. */
  z.object({ op: z.literal('waits'), ...Run }),
  /** One part: the arguments. */
  z.object({ op: z.literal('call'), ...Run, call: z.int(), name: z.string() }),
  /** Two parts: the message, and the data as JSON. */
  z.object({
    op: z.literal('log'),
    ...Run,
    level: z.enum(['debug', 'info', 'warn', 'error']),
    at: z.number().min(0).max(8.64e15),
    truncated: z.boolean(),
  }),
  /** One part: the output. */
  z.object({ op: z.literal('completed'), ...Used }),
  /** Three parts: message, stack, and the thrown value as JSON. */
  z.object({ op: z.literal('failed'), ...Used, code: z.enum(codeFailures) }),
  /** The run has ended, as requested. */
  z.object({ op: z.literal('ended'), ...Used }),
])
export type ChildHeader = z.infer<typeof ChildHeader>

/** Throws if the value is not a valid header; a compromised child may send anything. */
export const parseChildHeader = (value: unknown): ChildHeader => ChildHeader.parse(value)

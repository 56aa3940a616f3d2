import { z } from 'zod'
import { codeFailures } from './protocol.js'

const Run = { run: z.int(), lengths: z.array(z.int().min(0)) }
const Used = { ...Run, cpuMs: z.number().min(0), memoryMb: z.number().min(0) }

export const ChildHeader = z.discriminatedUnion('op', [
  /** Which run it computes from now on. */
  z.object({ op: z.literal('at'), ...Run }),
  /** A run has nothing to compute until a call of its own is answered. */
  z.object({ op: z.literal('waits'), ...Run }),
  /** Its part: the arguments. */
  z.object({ op: z.literal('call'), ...Run, call: z.int(), name: z.string() }),
  /** Its parts: the message, and the data as JSON. */
  z.object({
    op: z.literal('log'),
    ...Run,
    level: z.enum(['debug', 'info', 'warn', 'error']),
    at: z.number().min(0).max(8.64e15),
    truncated: z.boolean(),
  }),
  /** Its part: the output. */
  z.object({ op: z.literal('completed'), ...Used }),
  /** Its parts: message, stack, and what was thrown as JSON. */
  z.object({ op: z.literal('failed'), ...Used, code: z.enum(codeFailures) }),
  /** It is no more, as was asked. */
  z.object({ op: z.literal('ended'), ...Used }),
])
export type ChildHeader = z.infer<typeof ChildHeader>

/** Throws where it is no header, as one from a child that was taken over may be. */
export const parseChildHeader = (value: unknown): ChildHeader => ChildHeader.parse(value)

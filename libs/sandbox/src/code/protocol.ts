/** Starts a run in a child; its parts are the code, the arguments and the context, each as text. */
export interface RunHeader {
  op: 'run'
  run: number
  entry: string
  functions: readonly string[]
  /** Refused functions, each with its reason. */
  refused?: Readonly<Record<string, string>> | undefined
  cpuMs: number
  memoryMb: number
  inputBytes: number
  outputBytes: number
  logBytes: number
  hostCalls: number
  hostCallsAtOnce: number
}

/** Answer of a host call; its part is the value, or the error. */
interface AnswerHeader {
  op: 'answer'
  run: number
  call: number
  ok: boolean
}

/** Ends a run early. */
interface EndHeader {
  op: 'end'
  run: number
}

export type ParentHeader = (RunHeader | AnswerHeader | EndHeader) & { lengths: number[] }

/** Why code has no result. */
export const codeFailures = [
  'error',
  'unhandled_rejection',
  'out_of_memory',
  'stack_overflow',
  'output_too_large',
  'output_invalid',
  'host_calls_exceeded',
  'never_settles',
  'cpu_timeout',
] as const

/** Sent by a child when it accepts runs. */
export const ready = 'ready'

/** Global function of the guest through which the promises of async functions pass. */
export const trackingFunction = '__opsplane_tracked'

/** Function in a compiled module that calls an async function and passes its promise to `trackingFunction`. */
export const runFunction = '$opsplaneRun'

/** Size of a log entry in addition to its texts. */
export const entryBytes = 32

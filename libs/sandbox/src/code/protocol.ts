/** What a child is given to run; its parts are the code, the arguments and the context, each as text. */
export interface RunHeader {
  op: 'run'
  run: number
  entry: string
  functions: readonly string[]
  /** Functions that are refused, and why. */
  refused?: Readonly<Record<string, string>> | undefined
  cpuMs: number
  memoryMb: number
  inputBytes: number
  outputBytes: number
  logBytes: number
  hostCalls: number
  hostCallsAtOnce: number
}

/** What became of a call; its part is the value, or the error. */
interface AnswerHeader {
  op: 'answer'
  run: number
  call: number
  ok: boolean
}

/** Ends a run before its time. */
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

/** What a child writes when it can take runs. */
export const ready = 'ready'

/** Global of code: what asynchronous functions give passes through it. */
export const trackingFunction = '__opsplane_tracked'

/** Function of a compiled module that has its asynchronous ones do so. */
export const runFunction = '$opsplaneRun'

/** The size of an entry in addition to its texts. */
export const entryBytes = 32

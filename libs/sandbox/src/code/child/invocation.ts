import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten-core'
import type { codeFailures, RunHeader } from '../protocol.js'
import { createBudget } from './budget.js'
import type { Instance } from './engine.js'
import type { Guest } from './guest.js'

type Failure = (typeof codeFailures)[number]

/** Result of an invocation: the output as JSON, or the error. */
export type Ending =
  | { op: 'completed'; output: string }
  /** `thrown` is JSON. */
  | { op: 'failed'; code: Failure; message: string; stack: string; thrown: string }

interface Outlet {
  call(call: number, name: string, args: string): void
  log(level: string, message: string, data: string, truncated: boolean): void
}

export interface Invocation {
  /**
   * Computes for some milliseconds. Returns `more` if there is more to compute, and `waits` if the code waits for host
   * calls.
   */
  slice(): 'more' | 'waits' | Ending
  /** `json` is the value, or the error. */
  answer(call: number, ok: boolean, json: string): void
  readonly cpuMs: number
  readonly memoryMb: number
  /** Returns whether the instance still works and can be reused. */
  dispose(): boolean
}

export interface Work {
  header: RunHeader
  code: string
  args: string
  context: string
}

const sliceMs = 5
const jobsAtOnce = 100

/** Runs code in a guest that has not run any code. */
export function createInvocation(instance: Instance, work: Work, outlet: Outlet): Invocation {
  const { header } = work
  const prepared = instance.guest
  const { runtime, context } = prepared
  const budget = createBudget(header.cpuMs)
  let guest: QuickJSHandle | undefined
  let outcome: Ending | undefined
  /** The output, while work that the code started continues. */
  let returned: string | undefined
  let [underWay, broken, memoryMb] = [0, false, 0]

  const end = (made: Ending) => {
    outcome ??= made
  }
  const failed = (code: Failure, message: string, stack = message, thrown = 'null') =>
    end({ op: 'failed', code, message, stack, thrown })

  /** Handles messages of the code; the sender truncates their texts. */
  const handleMessage = (
    kind: string,
    [first = '', second = '', third = '', fourth = '']: string[],
  ): void => {
    if (outcome) return
    if (kind === 'call') {
      underWay += 1
      outlet.call(Number(first), second, third)
    } else if (kind === 'log') outlet.log(first, second, third, fourth === 'true')
    else if (kind === 'exceeded')
      failed('host_calls_exceeded', `it makes more than ${first} calls of the host`)
    else if (kind === 'invalid')
      failed('output_invalid', `its output cannot be written as JSON: ${JSON.parse(first) as string}`)
    else if (kind === 'returned') {
      returned = first
      if (Buffer.byteLength(first) > header.outputBytes)
        failed('output_too_large', `its output has more than ${header.outputBytes} bytes`)
    } else if (kind === 'completed') end({ op: 'completed', output: returned ?? 'null' })
    else if (kind === 'unhandled') {
      const [message, stack] = textsOf(first, second)
      failed('unhandled_rejection', `nothing handles that a promise was rejected: ${message}`, stack, third)
    } else if (kind === 'failed') {
      const [message, stack] = textsOf(second, third)
      failed(...failureOf(first, message), stack, fourth)
    }
  }

  /** Maps errors of QuickJS itself; it cannot always report that memory is exhausted. */
  const failureOf = (engineMessage: string, message: string): [Failure, string] => {
    if (engineMessage === 'out of memory') return ['out_of_memory', 'it takes too much memory']
    if (engineMessage === 'stack overflow') return ['stack_overflow', 'its calls go too deep']
    if (isFull() && (message === '' || message === 'null'))
      return ['out_of_memory', 'it takes too much memory']
    return ['error', message]
  }
  const isFull = () => instance.grownMb() > 0.75 * instance.memoryMb

  const begin = () => {
    prepared.run = { receive: handleMessage, isOver: budget.isOver }
    guest = startGuest(prepared, work)
    const module = context.evalCode(work.code, 'artifact.js', { type: 'module' })
    if (module.error) return module.error.consume(fail)
    module.value.consume((value) => void invoke('start', value, ...texts(context, [header.entry, work.args])))
  }
  /** Calls a function of the prelude; all handles but the first are disposed of. */
  const invoke = (name: string, ...handles: QuickJSHandle[]): void => {
    if (!guest) return
    const result = context.callMethod(guest, name, handles)
    for (const handle of handles.slice(1)) handle.dispose()
    if (result.error) result.error.consume(fail)
    else result.value.dispose()
  }
  const fail = (thrown: QuickJSHandle): void => {
    if (outcome || budget.over) return
    const result = guest && context.callMethod(guest, 'fail', [thrown])
    if (!result || result.error) failed(...failureOf('', ''))
    result?.dispose()
  }

  /** After an exception of WebAssembly itself, the instance cannot be used any more. */
  const guarded = (act: () => void): void => {
    try {
      budget.slice(act)
    } catch (thrown) {
      broken = true
      if (thrown instanceof RangeError) failed('stack_overflow', 'its calls go too deep')
      else if (isFull()) failed('out_of_memory', 'it takes too much memory')
      else failed('error', 'it has brought the engine to an end')
    }
    if (budget.over) outcome = { op: 'failed', code: 'cpu_timeout', thrown: 'null', ...overdue(header.cpuMs) }
  }

  const compute = () => {
    if (!guest) begin()
    const until = performance.now() + sliceMs
    while (!outcome && !budget.over && runtime.hasPendingJob() && performance.now() < until)
      runtime.executePendingJobs(jobsAtOnce).error?.consume(fail)
  }

  return {
    slice() {
      guarded(compute)
      if (!outcome && !runtime.hasPendingJob() && underWay === 0)
        if (returned !== undefined) guarded(() => invoke('finish'))
        else if (isFull())
          // QuickJS silently drops a job if there is no memory left for it.
          failed('out_of_memory', 'it takes too much memory')
        else failed('never_settles', 'it waits for a promise that nothing is left to settle')
      if (outcome) return outcome
      return runtime.hasPendingJob() ? 'more' : 'waits'
    },
    answer(call, ok, json) {
      if (outcome) return
      underWay -= 1
      guarded(() =>
        invoke('answer', context.newNumber(call), ok ? context.true : context.false, context.newString(json)),
      )
    },
    get cpuMs() {
      return budget.usedMs
    },
    get memoryMb() {
      return memoryMb
    },
    dispose() {
      memoryMb = broken ? instance.grownMb() : usedMb(runtime, context, instance)
      return !broken
    },
  }
}

const textsOf = (...json: [string, string]): [string, string] => [
  JSON.parse(json[0]) as string,
  JSON.parse(json[1]) as string,
]

const overdue = (cpuMs: number) => {
  const message = `it computes for more than ${cpuMs} ms`
  return { message, stack: message }
}

function texts(context: QuickJSContext, values: string[]): QuickJSHandle[] {
  return values.map((value) => context.newString(value))
}

function startGuest({ context, start, send }: Guest, { header, context: json }: Work): QuickJSHandle {
  const { functions, ...limits } = header
  const startArgs = texts(context, [JSON.stringify(functions), json, JSON.stringify(limits)])
  return context.unwrapResult(context.callFunction(start, context.undefined, send, ...startArgs))
}

function usedMb(runtime: QuickJSRuntime, context: QuickJSContext, instance: Instance): number {
  if (instance.grownMb() > 0) return instance.grownMb()
  try {
    return (
      runtime
        .computeMemoryUsage()
        .consume((usage) =>
          context.getProp(usage, 'memory_used_size').consume((size) => context.getNumber(size)),
        ) /
      (1024 * 1024)
    )
  } catch {
    return 0
  }
}

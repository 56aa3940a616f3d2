import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { prelude, sdkModule } from './prelude.js'

/** The run that a guest executes: receives its messages and can interrupt it. */
interface GuestRun {
  receive(kind: string, values: string[]): void
  isOver(): boolean
}

/** A runtime and a context with the prelude loaded; no tenant's code has run in it before its first use. */
export interface Guest {
  runtime: QuickJSRuntime
  context: QuickJSContext
  /** The prelude function, which is called with `send`, the names of host functions, the context and the limits. */
  start: QuickJSHandle
  /** The only way out of the guest. */
  send: QuickJSHandle
  run: GuestRun
}

/** QuickJS reaches this limit before V8's stack overflows, except while parsing. */
const stackBytes = 256 * 1024
const sdk = '@opsplane/sdk'

const noRun: GuestRun = { receive() {}, isOver: () => false }

/**
 * Does most of the work an invocation needs before its code runs; the result is the same for all code. Its handles are
 * never disposed of.
 */
export function prepareGuest(quickjs: QuickJSWASMModule): Guest {
  const runtime = quickjs.newRuntime()
  runtime.setMaxStackSize(stackBytes)
  runtime.setModuleLoader((name) =>
    name === sdk
      ? sdkModule
      : { error: new Error(`there is no module "${name}": only ${sdk} can be imported`) },
  )
  const context = runtime.newContext()
  // Otherwise QuickJS creates a context to report memory usage, which would no longer exist after the first run.
  runtime.context = context
  const send = context.newFunction('send', (...handles) => {
    const [kind = '', ...values] = handles.map((handle) => String(context.dump(handle)))
    guest.run.receive(kind, values)
  })
  const start = context.unwrapResult(context.evalCode(prelude, 'prelude.js'))
  const guest: Guest = { runtime, context, start, send, run: noRun }
  runtime.setInterruptHandler(() => guest.run.isOver())
  replaceRandom(context)
  return guest
}

/** The random generator of QuickJS is seeded when the context is created, and that state is restored for each run. */
function replaceRandom(context: QuickJSContext): void {
  const random = context.newFunction('random', () => context.newNumber(Math.random()))
  context.getProp(context.global, 'Math').consume((math) => context.setProp(math, 'random', random))
}

import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { prelude, sdkModule } from './prelude.js'

/** The run that a guest works for: whom it sends to, and who interrupts it. */
interface GuestRun {
  receive(kind: string, values: string[]): void
  isOver(): boolean
}

/** A runtime and a context with the prelude read: until it is used, no tenant's code has run in it. */
export interface Guest {
  runtime: QuickJSRuntime
  context: QuickJSContext
  /** The prelude, which is called with `send` and what the code may have. */
  start: QuickJSHandle
  /** The only way out. */
  send: QuickJSHandle
  run: GuestRun
}

/** QuickJS overflows its own stack before that of V8, except where it parses. */
const stackBytes = 256 * 1024
const sdk = '@opsplane/sdk'

const noRun: GuestRun = { receive() {}, isOver: () => false }

/** Most of what an invocation takes before its code runs, and the same for all code. Its handles are never disposed of. */
export function prepareGuest(quickjs: QuickJSWASMModule): Guest {
  const runtime = quickjs.newRuntime()
  runtime.setMaxStackSize(stackBytes)
  runtime.setModuleLoader((name) =>
    name === sdk
      ? sdkModule
      : { error: new Error(`there is no module "${name}": only ${sdk} can be imported`) },
  )
  const context = runtime.newContext()
  // Or one is made to ask what memory is used, which is not there any more after the first run.
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

/** That of QuickJS is seeded when the context is made, which is put back for each run. */
function replaceRandom(context: QuickJSContext): void {
  const random = context.newFunction('random', () => context.newNumber(Math.random()))
  context.getProp(context.global, 'Math').consume((math) => context.setProp(math, 'random', random))
}

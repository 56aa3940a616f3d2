import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten-core'
import type { Instance } from './engine.js'
import { prelude, sdkModule } from './prelude.js'

/** A runtime and a context of their own with the prelude read: nothing of anybody has run in it yet. */
export interface Guest {
  runtime: QuickJSRuntime
  context: QuickJSContext
  /** The prelude, which is called with what the code may have. */
  start: QuickJSHandle
}

/** QuickJS overflows its own stack before that of V8, except where it parses. */
const stackBytes = 256 * 1024
const sdk = '@opsplane/sdk'

/** Most of what an invocation takes before its code runs, and the same for all code. */
export function prepareGuest({ quickjs }: Pick<Instance, 'quickjs'>): Guest {
  const runtime = quickjs.newRuntime()
  runtime.setMaxStackSize(stackBytes)
  runtime.setModuleLoader((name) =>
    name === sdk
      ? sdkModule
      : { error: new Error(`there is no module "${name}": only ${sdk} can be imported`) },
  )
  const context = runtime.newContext()
  return { runtime, context, start: context.unwrapResult(context.evalCode(prelude, 'prelude.js')) }
}

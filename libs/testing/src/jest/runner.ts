import asyncHooks from 'node:async_hooks'
import { createRequire, register } from 'node:module'
import { pathToFileURL } from 'node:url'
import { ModernFakeTimers } from '@jest/fake-timers'
import { findLimits } from '../limits.js'
import { type JestGlobals, provideGlobals } from './globals.js'
import { beginProfile, type FileProfile, followRun, spentSince, spentSoFar } from './profile.js'
import { RunningTest } from './running-test.js'
import { toPortRange } from './worker-ports.js'

/** The part of a runtime that jest-circus uses. */
interface CircusRuntime {
  requireInternalModule(file: string): unknown
  requireModule(file: string): unknown
  setGlobalsForRuntime(globals: Omit<JestGlobals, 'jest'>): void
  unstable_shouldLoadAsEsm(file: string): boolean
  unstable_importModule(file: string): Promise<unknown>
  enterTestCode(): void
  leaveTestCode(): void
}
type FakeTimersConfig = ConstructorParameters<typeof ModernFakeTimers>[0]['config']
type RunFile<Runtime> = (
  globalConfig: object,
  config: FakeTimersConfig,
  environment: { handleTestEvent?: ReturnType<typeof followRun> },
  runtime: Runtime,
  testPath: string,
  sendMessageToJest: unknown,
) => Promise<{ profile?: FileProfile }>

const require = createRequire(import.meta.url)
const { default: runWithCircus } = require('jest-circus/runner') as { default: RunFile<CircusRuntime> }
const circusHandlers = Symbol.for('EVENT_HANDLERS')
const nothing = () => undefined
/** Node's default. */
const FRAMES = 10

process.env.FREE_PORTS = toPortRange(Number(process.env.JEST_WORKER_ID ?? 1), process.ppid)
// Tests import from a package that throws outside of Jest's own module loader.
register('./globals-hook.js', import.meta.url)

/**
 * Runs a test file with jest-circus, like Jest itself, but with plain Node modules. Jest's loader reads, compiles and
 * runs all imports of a file again in a separate context, which costs more than most files' tests. Here a module is
 * loaded once per worker and shared by its files, as in production; there are no module mocks.
 */
const run: RunFile<unknown> = async (
  globalConfig,
  config,
  environment,
  _runtime,
  testPath,
  sendMessageToJest,
) => {
  // Jest sets 100, which is expensive for each error a service creates and each `expect`
  // call, which creates one in advance.
  Error.stackTraceLimit = FRAMES
  const timers = new ModernFakeTimers({ config, global: globalThis })
  const jest = {
    useFakeTimers: timers.useFakeTimers.bind(timers),
    useRealTimers: timers.useRealTimers.bind(timers),
    advanceTimersByTime: timers.advanceTimersByTime.bind(timers),
  }
  const runtime: CircusRuntime = {
    requireInternalModule: reload,
    requireModule: require,
    setGlobalsForRuntime: (globals) => provideGlobals({ ...globals, jest }),
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (file) => import(pathToFileURL(file).href),
    enterTestCode: nothing,
    leaveTestCode: nothing,
  }
  const begun = spentSoFar()
  const profile = beginProfile()
  environment.handleTestEvent = followRun(profile)
  const limited = { ...globalConfig, testTimeout: findLimits(testPath).testMs }
  const result = await runWithCircus(limited, config, environment, runtime, testPath, sendMessageToJest)
  return { ...result, profile: { ...profile, total: spentSince(begun) } }
}
export default run

/** Reloads jest-circus, because its state (tests and hooks) belongs to one test file. */
function reload(file: string): unknown {
  Reflect.deleteProperty(globalThis, circusHandlers)
  Reflect.deleteProperty(require.cache, file)
  const { AsyncLocalStorage } = asyncHooks
  Reflect.set(asyncHooks, 'AsyncLocalStorage', RunningTest)
  try {
    return require(file)
  } finally {
    Reflect.set(asyncHooks, 'AsyncLocalStorage', AsyncLocalStorage)
  }
}

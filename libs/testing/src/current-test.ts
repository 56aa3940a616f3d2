/** Global symbols of jest-circus's event handlers for the running test file, and of the state of `expect` for it. */
const [circusHandlers, matchers] = [Symbol.for('EVENT_HANDLERS'), Symbol.for('$$jest-matchers-object')]
type Handler = (event: { name: string }) => void

/** Events that end every wait: a test or a hook has failed, usually by timeout, or the file has ended. */
const ends = new Set(['test_fn_failure', 'hook_failure', 'run_finish'])

/** Compiled path of the test file that runs in this process; `undefined` outside of Jest. */
export function currentTestFile(): string | undefined {
  const { state } = (Reflect.get(globalThis, matchers) ?? {}) as { state?: { testPath?: string } }
  return state?.testPath
}

/**
 * `isOver` returns whether the currently running test or hook has failed, or its file has ended,
 * since this call. Call `release` to stop tracking.
 */
export function followCurrentTest(): { isOver(): boolean; release(): void } {
  const handlers = (Reflect.get(globalThis, circusHandlers) ?? []) as Handler[]
  let over = false
  const onEvent: Handler = ({ name }) => {
    over ||= ends.has(name)
  }
  handlers.push(onEvent)
  return {
    isOver: () => over,
    release: () => void handlers.splice(handlers.indexOf(onEvent), 1),
  }
}

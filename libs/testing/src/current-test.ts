/** What jest-circus calls with everything that happens in the test file that runs, and what `expect` knows of that file. */
const [circusHandlers, matchers] = [Symbol.for('EVENT_HANDLERS'), Symbol.for('$$jest-matchers-object')]
type Handler = (event: { name: string }) => void

/** The events after which no wait goes on: a test or a hook has failed, mostly for its time being over, or the file is done. */
const ends = new Set(['test_fn_failure', 'hook_failure', 'run_finish'])

/** Compiled path of the test file that runs in this process; undefined outside of Jest. */
export function currentTestFile(): string | undefined {
  const { state } = (Reflect.get(globalThis, matchers) ?? {}) as { state?: { testPath?: string } }
  return state?.testPath
}

/** Until `release` is called: whether the test or hook that runs now has failed since, or its file has ended. */
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

import type * as jestGlobals from '@jest/globals'

type All = typeof jestGlobals
type Names = ('describe' | 'it' | 'test' | 'expect') | ('beforeAll' | 'beforeEach' | 'afterAll' | 'afterEach')
/** Exports of `@jest/globals` for test files; of `jest` only the clock. */
export type JestGlobals = Pick<All, Names> & {
  jest: {
    useFakeTimers(config?: object): void
    useRealTimers(): void
    advanceTimersByTime(ms: number): void
  }
}

let current: JestGlobals | undefined

/** Binds the exports of this module to the running test file's globals. */
export function provideGlobals(globals: JestGlobals): void {
  current = globals
}

/** Delegates to the globals of the running test file, also in modules that several test files share. */
function ofCurrentFile<Name extends keyof JestGlobals>(name: Name): JestGlobals[Name] {
  const present = (): JestGlobals[Name] => {
    if (!current) throw new Error(`${name} is for test files that Jest runs`)
    return current[name]
  }
  const callable: unknown = () => undefined
  return new Proxy(callable as JestGlobals[Name], {
    apply: (_target, _this, args) => Reflect.apply(present() as unknown as () => unknown, undefined, args),
    get: (_target, key) => Reflect.get(present(), key),
  })
}

export const describe: All['describe'] = ofCurrentFile('describe')
export const it: All['it'] = ofCurrentFile('it')
export const test: All['test'] = ofCurrentFile('test')
export const expect: All['expect'] = ofCurrentFile('expect')
export const beforeAll: All['beforeAll'] = ofCurrentFile('beforeAll')
export const beforeEach: All['beforeEach'] = ofCurrentFile('beforeEach')
export const afterAll: All['afterAll'] = ofCurrentFile('afterAll')
export const afterEach: All['afterEach'] = ofCurrentFile('afterEach')
export const jest: JestGlobals['jest'] = ofCurrentFile('jest')

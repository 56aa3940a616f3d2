import { expect, test } from '@jest/globals'
import { ApiError, type Principal } from '@opsplane/contracts'
import { ada } from '../fixture/platform.js'
import { createOpenAnswers } from './open-answers.js'

const allowed = ['itsm:read']
type Answers = (readonly string[] | null)[]

/** Open responses with the test's clock and timer; the test also plays settings. */
function started() {
  let now = 0
  let timer: (() => void) | undefined
  const asked: { tokens: string[]; answer(answers?: Answers): void; fail(): void }[] = []
  const answers = createOpenAnswers({
    ask: (questions) =>
      new Promise((resolve, reject) => {
        const tokens = questions.map(({ token }) => token)
        asked.push({
          tokens,
          answer: (given = tokens.map(() => allowed)) => resolve(given),
          fail: () => reject(new ApiError('service_unavailable', 'away')),
        })
      }),
    monotonicMs: () => now,
    timers: {
      setTimeout: (act) => {
        timer = act
        return { unref: () => {} }
      },
      clearTimeout: () => {
        timer = undefined
      },
    },
  })
  const refused: string[] = []
  const pass = (ms: number) => {
    now += ms
  }
  return {
    ...answers,
    asked,
    refused,
    isWaiting: () => timer !== undefined,
    open(token: string, principal: Principal = { ...ada, tokenId: token }) {
      const question = { token, workspace: 'acme', environment: 'production' }
      return answers.follow({ question, principal, refuse: () => refused.push(token) })
    },
    pass,
    /** Advances the clock, then fires the timer. */
    fire(ms: number) {
      pass(ms)
      const act = timer
      timer = undefined
      act?.()
    },
    /** Lets promise callbacks run. */
    settle: () => new Promise(setImmediate),
  }
}

test('all callers are verified together, each token once, and confirmed for a second from then', async () => {
  const { open, fire, asked, settle } = started()
  const [one, other] = [open('a'), open('b')]
  open('a')
  expect([one.isConfirmed(), asked.length]).toEqual([true, 0])
  fire(750)
  expect(asked.map(({ tokens }) => tokens)).toEqual([['a', 'b']])
  fire(251)
  expect(one.isConfirmed()).toBe(false)
  asked[0]?.answer()
  await settle()
  expect([one, other].map((answer) => answer.isConfirmed())).toEqual([true, true])
  fire(750)
  expect([one.isConfirmed(), asked.length]).toEqual([false, 2])
})

test('a waiting answer triggers an immediate verification, together with all others', async () => {
  const { open, pass, asked } = started()
  const one = open('a')
  open('b')
  pass(1_001)
  const waiting = one.confirmed()
  expect(asked.map(({ tokens }) => tokens)).toEqual([['a', 'b']])
  asked[0]?.answer()
  await waiting
  expect(one.isConfirmed()).toBe(true)
})

test.each<[string, Answers]>([
  ['whose token is refused', [null, allowed]],
  ['who may do less than when it began', [[], allowed]],
])('a caller %s is cut off, even if nothing is sent', async (_who, answers) => {
  const { open, fire, asked, refused, settle } = started()
  for (const token of ['a', 'b', 'a']) open(token)
  fire(750)
  asked[0]?.answer(answers)
  await settle()
  expect(refused).toEqual(['a', 'a'])
})

test('a verification from before a revocation confirms nothing', async () => {
  const { open, fire, forget, asked, refused, settle } = started()
  const [one, other] = [open('a'), open('b')]
  forget(({ tokenId }) => tokenId === 'a')
  expect([one, other].map((answer) => answer.isConfirmed())).toEqual([false, true])
  fire(750)
  forget(({ tokenId }) => tokenId === 'a')
  const waiting = one.confirmed()
  asked[0]?.answer()
  await settle()
  expect([asked.length, one.isConfirmed()]).toEqual([2, false])
  asked[1]?.answer([null, allowed])
  await waiting
  expect(refused).toEqual(['a'])
})

test('while settings is unavailable waiting answers fail, and others continue', async () => {
  const { open, fire, asked, refused, settle } = started()
  const one = open('a')
  fire(1_001)
  const waiting = one.confirmed()
  asked[0]?.fail()
  await expect(waiting).rejects.toThrow('away')
  fire(750)
  asked[1]?.answer()
  await settle()
  expect([refused, one.isConfirmed()]).toEqual([[], true])
})

test('a principal without open answers is not verified again', () => {
  const { open, fire, asked, isWaiting } = started()
  const [one, again] = [open('a'), open('a')]
  one.stop()
  fire(750)
  expect(asked).toHaveLength(1)
  again.stop()
  asked[0]?.answer()
  fire(750)
  expect([asked.length, isWaiting()]).toEqual([1, false])
})

test('a waiting answer continues after a verification begun since the wait, however long it takes', async () => {
  const { open, pass, asked, settle } = started()
  const one = open('a')
  pass(1_001)
  let isOver = false
  const waiting = one.confirmed().then(() => {
    isOver = true
  })
  pass(5_000)
  asked[0]?.answer()
  await settle()
  expect([isOver, one.isConfirmed(), asked.length]).toEqual([true, false, 1])
  await waiting
})

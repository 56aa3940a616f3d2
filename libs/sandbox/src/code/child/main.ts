import { Socket } from 'node:net'
import { frame, frameReader } from '../../frames.js'
import type { ChildHeader } from '../child-header.js'
import { packet, readPacket } from '../packet.js'
import { type ParentHeader, type RunHeader, ready } from '../protocol.js'
import { createEngine, type Instance } from './engine.js'
import { createInvocation, type Ending, type Invocation, type Work } from './invocation.js'

// A child of `createCodeRunner`: runs code of one tenant, several runs concurrently while they wait for host calls. It
// exits when its parent has exited. The parent enforces all deadlines and sizes.

interface Running {
  id: number
  invocation: Invocation
  dispose(): void
}

type Sent = ChildHeader extends infer Header
  ? Header extends unknown
    ? Omit<Header, 'lengths'>
    : never
  : never

const channel = new Socket({ fd: 3, readable: true, writable: true })
const read = frameReader(Number.MAX_SAFE_INTEGER)
const engine = createEngine()
const runs = new Map<number, Running>()
const readyRuns: Running[] = []
let computing: number | undefined
let scheduled = false

const send = (header: Sent, ...parts: string[]) => void channel.write(frame(packet(header, ...parts)))

async function start(header: RunHeader, [code = '', args = '', context = '']: string[]): Promise<void> {
  const { run: id } = header
  const endRequested = { value: false }
  starting.set(id, endRequested)
  const instance = await engine.acquire(header.memoryMb)
  starting.delete(id)
  const work: Work = { header, code, args, context }
  const invocation = createInvocation(instance, work, {
    call: (call, name, json) => send({ op: 'call', run: id, call, name }, json),
    log: (level, message, data, truncated) =>
      send({ op: 'log', run: id, level: level as 'info', at: Date.now(), truncated }, message, data),
  })
  const running = {
    id,
    invocation,
    dispose: () => {
      runs.delete(id)
      if (invocation.dispose()) engine.release(instance)
      if (instance.grownMb() > 0) setImmediate(collect)
    },
  }
  runs.set(id, running)
  if (endRequested.value) finish(running, 'ended')
  else enqueue(running)
}
const starting = new Map<number, { value: boolean }>()

/** The memory of an instance that has grown is freed immediately. */
const collect = () => (globalThis as { gc?: () => void }).gc?.()

function enqueue(running: Running): void {
  if (!readyRuns.includes(running)) readyRuns.push(running)
  if (scheduled) return
  scheduled = true
  setImmediate(computeNext)
}

/** Reports which run computes from now on, if there are several. */
function announce(id: number): void {
  if (runs.size > 1 && computing !== id) send({ op: 'at', run: id })
  computing = id
}

function computeNext(): void {
  scheduled = false
  const running = readyRuns.shift()
  if (!running) return
  announce(running.id)
  const state = running.invocation.slice()
  if (state === 'waits') send({ op: 'waits', run: running.id })
  else if (state === 'more') readyRuns.push(running)
  else finish(running, state)
  if (readyRuns.length > 0) {
    scheduled = true
    setImmediate(computeNext)
  }
}

function finish(running: Running, outcome: Ending | 'ended'): void {
  const { id, invocation } = running
  running.dispose()
  const used = { run: id, cpuMs: invocation.cpuMs, memoryMb: invocation.memoryMb }
  if (outcome === 'ended') send({ op: 'ended', ...used })
  else if (outcome.op === 'completed') send({ op: 'completed', ...used }, outcome.output)
  else send({ op: 'failed', ...used, code: outcome.code }, outcome.message, outcome.stack, outcome.thrown)
}

function receive(text: string): void {
  const { header, parts } = readPacket(text, (value) => value as ParentHeader)
  if (header.op === 'run') return void start(header, parts)
  const running = runs.get(header.run)
  if (header.op === 'answer') {
    if (!running) return
    announce(running.id)
    running.invocation.answer(header.call, header.ok, parts[0] ?? 'null')
    enqueue(running)
    return
  }
  const begun = starting.get(header.run)
  if (begun) begun.value = true
  if (!running) return
  const at = readyRuns.indexOf(running)
  if (at >= 0) readyRuns.splice(at, 1)
  finish(running, 'ended')
}

/** The memory limit of most artifacts, in MB. */
const usualMemoryMb = 64

/**
 * The first invocation takes a hundred times as long as later ones, and the next few still several times as long. They run
 * here, before any caller waits.
 */
async function warmUp(): Promise<void> {
  const instance = await engine.acquire(usualMemoryMb)
  for (let run = 0; run < warmingRuns; run += 1) {
    warmingRun(instance)
    instance.restore()
  }
  engine.release(instance)
}
const warmingRuns = 5

/** Runs code that calls the host and uses common language features. */
function warmingRun(instance: Instance): void {
  const header: RunHeader = {
    ...{
      op: 'run',
      run: 0,
      entry: 'default',
      functions: ['warm.up'],
      cpuMs: 10_000,
      memoryMb: usualMemoryMb,
    },
    ...{ inputBytes: 1_000, outputBytes: 1_000, logBytes: 0, hostCalls: 1, hostCallsAtOnce: 1 },
  }
  const work: Work = { header, code: warmingCode, args: '[{"name":"a","items":[1,2]}]', context: '{}' }
  const invocation = createInvocation(instance, work, {
    call() {},
    log() {},
  })
  while (invocation.slice() === 'more');
  invocation.answer(1, true, '{"ok":true}')
  while (invocation.slice() === 'more');
  invocation.dispose()
}
const warmingCode = `export default async ({ name, items, ...rest }, host) => {
  const answer = await host.warm.up({ name })
  try { if (answer.ok) throw new Error(\`of \${name}\`) } catch (error) { rest.message = error.message }
  const sum = items.map((item) => item * 2).filter(Boolean).reduce((all, item) => all + item, 0)
  return { ...rest, sum, at: new Date(0).toISOString(), keys: Object.keys(answer), is: /a+/.test(name) }
}`

channel.on('data', (chunk) => {
  for (const text of read(chunk)) receive(text)
})
channel.on('close', () => process.exit(0))
channel.on('error', () => process.exit(0))
void warmUp().then(() => channel.write(frame(ready)))

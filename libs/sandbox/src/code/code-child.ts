import { assertNever } from '@opsplane/contracts'
import { type Channel, type ChildFailure, openChannel } from '../pool/channel.js'
import { cpuMs, residentBytes } from '../pool/process-usage.js'
import type { ChildCommand } from '../pool/program.js'
import { type ChildHeader, parseChildHeader } from './child-header.js'
import { callHost } from './host-calls.js'
import { packet, readPacket } from './packet.js'
import { type ParentHeader, ready } from './protocol.js'
import { cancelledOutcome, type Run, type RunOutcome, type RunUsage, timeoutOutcome } from './run.js'
import { appendLog, estimateUsage, parseFailure, parseOutput, toRunOutcome } from './run-outcomes.js'

interface CodeChildOptions {
  command: ChildCommand
  startMs: number
  frameBytes: number
  /** Resident memory of the process in addition to the limits of its runs, in bytes. */
  ownBytes: number
  /** Called when a run has ended or waits, or the child has exited: there may be free capacity. */
  changed: () => void
  /** Called for a run that lost its child because of another run, and can be started again. */
  again: (run: Run) => void
  /** Called when the tenant's code has caused the child to fail. */
  struck: () => void
}

/** A child process that runs code of one tenant. */
export interface CodeChild {
  readonly pid: number
  readonly alive: boolean
  /** Resolves when the child accepts runs; rejects if it exits before. */
  readonly ready: Promise<void>
  readonly exited: Promise<void>
  /** Number of runs. */
  readonly size: number
  /** Number of runs that do not wait for a host call. */
  readonly computing: number
  /** Sum of the memory limits of its runs, in MB. */
  readonly promisedMb: number
  begin(run: Run): void
  /** Ends a run early. */
  end(run: Run, outcome: RunOutcome): void
  kill(): void
}

interface LiveRun {
  run: Run
  id: number
  waits: boolean
  /** Outcome of a run that is being ended, once the child has confirmed it. */
  ending: RunOutcome | undefined
  endsBy: number
}

const checkIntervalMs = 50
/** CPU time beyond the limit after which a run is considered uninterruptible, in milliseconds. */
const graceMs = 250
/** Maximum time for a child to confirm the end of a run, in milliseconds, even if it is busy with other runs. */
const lettingGoMs = 30_000
const megabyte = 1024 * 1024

export function startCodeChild(options: CodeChildOptions): CodeChild {
  const activeRuns = new Map<number, LiveRun>()
  let nextId = 1
  let computes: LiveRun | undefined
  /** CPU time of the process at its last message, in milliseconds. */
  let [mark, hasReceived]: [number | undefined, boolean] = [undefined, true]
  let timer: NodeJS.Timeout | undefined
  let settleReady: { resolve: () => void; reject: (error: Error) => void } | undefined
  const isReady = new Promise<void>((resolve, reject) => {
    settleReady = { resolve, reject }
  })
  const startTimer = setTimeout(() => channel.end('deadline'), options.startMs)

  const channel: Channel = openChannel(options.command, options.frameBytes, {
    text: (text) => {
      hasReceived = true
      if (settleReady && text === ready) return becomeReady()
      handleMessage(text)
    },
    ended: handleExit,
  })

  function becomeReady(): void {
    clearTimeout(startTimer)
    settleReady?.resolve()
    settleReady = undefined
  }

  /** A message that is not a valid packet of a known run means that the child is compromised. */
  function handleMessage(text: string): void {
    try {
      const { header, parts } = readPacket(text, parseChildHeader)
      const one = activeRuns.get(header.run)
      if (!one) throw new Error('has no such run')
      receive(one, header, parts)
    } catch {
      channel.end('crashed')
    }
  }

  function receive(one: LiveRun, header: ChildHeader, [first = '', second = '', third = '']: string[]): void {
    switch (header.op) {
      case 'at':
        computes = one
        break
      case 'waits':
        one.waits = true
        options.changed()
        break
      case 'call':
        call(one, header.call, header.name, first)
        break
      case 'log':
        appendLog(one.run, header, first, second)
        break
      case 'completed':
        settle(one, parseOutput(first), header)
        break
      case 'failed':
        settle(one, parseFailure(one.run, header.code, first, second, third), header)
        break
      case 'ended':
        settle(one, cancelledOutcome, header)
        break
      default:
        assertNever(header)
    }
  }

  function call(one: LiveRun, id: number, name: string, args: string): void {
    const { run } = one
    run.called = true
    run.hostCalls += 1
    run.underWay += 1
    const allowed =
      run.hostCalls <= run.limits.hostCalls &&
      run.underWay <= run.limits.hostCallsAtOnce &&
      run.request.functions.includes(name)
    if (!allowed) throw new Error('makes a call that the child does not let through')
    void callHost(run, name, args).then(({ ok, json }) => {
      run.underWay -= 1
      if (activeRuns.get(one.id) !== one || one.ending) return
      one.waits = false
      send({ op: 'answer', run: one.id, call: id, ok }, json)
    })
  }

  const send = (header: OmitLengths<ParentHeader>, ...parts: string[]) =>
    channel.send(packet(header, ...parts))

  function settle(one: LiveRun, outcome: RunOutcome, used?: RunUsage): void {
    activeRuns.delete(one.id)
    if (computes === one) computes = undefined
    one.run.settle(one.ending ?? outcome, used)
    if (activeRuns.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
    options.changed()
  }

  function handleExit(failure: ChildFailure): void {
    clearTimeout(startTimer)
    clearInterval(timer)
    settleReady?.reject(new Error(`a child process ended before it was ready: ${failure}`))
    const blamed = computing()
    const runs = [...activeRuns.values()]
    activeRuns.clear()
    if (runs.length > 0 && failure !== 'died') options.struck()
    for (const { run, ending } of runs) {
      if (ending) run.settle(ending)
      else if (run === blamed?.run) run.settle(toRunOutcome(failure, run), estimateUsage(failure, run))
      else if (run.called) run.settle(toRunOutcome('died', run))
      else options.again(run)
    }
    options.changed()
  }

  /** The run that currently computes, as far as is known. */
  const computing = (): LiveRun | undefined =>
    computes ?? [...activeRuns.values()].find(({ waits }) => !waits) ?? [...activeRuns.values()][0]

  function checkLimits(): void {
    const now = performance.now()
    const memory = residentBytes(channel.pid) ?? 0
    if (memory > options.ownBytes + promisedMb() * megabyte) channel.end('memory')
    const used = cpuMs(channel.pid) ?? now
    if (hasReceived || mark === undefined) mark = used
    hasReceived = false
    const one = computing()
    if (one && !one.waits && used - mark >= (one.ending ? 0 : one.run.limits.cpuMs) + graceMs)
      channel.end('deadline')
    if ([...activeRuns.values()].some(({ ending, endsBy }) => ending && now > endsBy)) channel.end('deadline')
  }

  const promisedMb = () => {
    let sum = 0
    for (const { run } of activeRuns.values()) sum += run.limits.memoryMb
    return sum
  }

  function end(one: LiveRun, outcome: RunOutcome): void {
    if (one.ending) return
    one.ending = outcome
    one.endsBy = performance.now() + lettingGoMs
    mark = undefined
    one.run.abort()
    send({ op: 'end', run: one.id })
    // The child reports the usage of the run, but the outcome does not wait longer than `graceMs` for it.
    setTimeout(() => one.run.settle(outcome), graceMs).unref()
  }

  return {
    get pid() {
      return channel.pid
    },
    get alive() {
      return channel.alive
    },
    ready: isReady,
    exited: channel.closed,
    get size() {
      return activeRuns.size
    },
    get computing() {
      let count = 0
      for (const { waits } of activeRuns.values()) if (!waits) count += 1
      return count
    },
    get promisedMb() {
      return promisedMb()
    },
    begin(run) {
      const id = nextId
      nextId += 1
      const one: LiveRun = { run, id, waits: false, ending: undefined, endsBy: 0 }
      activeRuns.set(id, one)
      run.begin(() => end(one, timeoutOutcome('wall', run.limits)))
      const { code, entry = 'default', functions, refused, context = null } = run.request
      const { wallMs: _, ...limits } = run.limits
      send(
        { op: 'run', run: id, entry, functions, refused, ...limits },
        code,
        run.args,
        JSON.stringify(context),
      )
      timer ??= setInterval(checkLimits, checkIntervalMs)
    },
    end(run, outcome) {
      for (const one of activeRuns.values()) if (one.run === run) end(one, outcome)
    },
    kill: () => channel.end('died'),
  }
}

type OmitLengths<Header> = Header extends unknown ? Omit<Header, 'lengths'> : never

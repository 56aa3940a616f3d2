import { isDeepStrictEqual } from 'node:util'
import type { EffectStep, ForEachStep, ParallelStep, Step, WorkflowDefinition } from '@opsplane/contracts'
import { retryDelayMs, sha256Hex } from '@opsplane/runtime'
import type { Place, StepError } from '../history.js'
import { Clock, CutOff, Cutting } from './clock.fixture.js'
import { error, Failed, type Observed, Stopped, toStepError } from './endings.fixture.js'
import { context } from './engine-run.fixture.js'
import type { SimulatedWorld } from './simulated-world.fixture.js'
import { findConditionReads, findPaths, findVisiblePlace, listsIn, type Path } from './visibility.fixture.js'

type Out = { output: unknown; error: StepError | null; status: 'completed' | 'failed'; passes: boolean }
type Flight = { input: unknown; key: string; attempt: number }
type Within = { cutting: Cutting<Failed | Stopped>; suffix: string; round?: { item: unknown; index: number } }

/**
 * Reference implementation: executes a definition directly, step by step, with all state on the JavaScript stack. For a
 * retry it remembers results by place.
 */
export class Reference {
  readonly clock = new Clock()
  readonly log: string[] = []
  readonly #paths: Map<string, Path>
  readonly #out = new Map<Place, Out>()
  readonly #chosen = new Map<Place, unknown>()
  readonly #flying = new Map<Place, Flight>()
  readonly #children = new Map<Place, Flight & { isThere: boolean }>()
  readonly #judged: ReadonlySet<string>
  #attempt = 1
  #failure: Observed['error'] = null

  constructor(
    readonly definition: WorkflowDefinition,
    readonly world: SimulatedWorld,
  ) {
    this.#paths = findPaths([...definition.steps, ...(definition.onFailure ?? [])])
    this.#judged = findConditionReads(definition)
  }

  async run(cancelAt: number | null): Promise<Observed> {
    const { steps, output, onFailure } = this.definition
    const last =
      output === undefined
        ? []
        : [{ type: 'transform', id: '$output', continueOnError: false, value: output } as const]
    const ended = (status: Observed['status'], rest: Partial<Observed> = {}): Observed => ({
      ...{ status, output: null, error: null, endedAt: this.clock.now, log: this.log },
      ...rest,
    })
    const main = await this.#part([...steps, ...last], cancelAt)
    if (main === 'cancelled') return ended(main)
    if (!(main instanceof Failed)) return ended('completed', { output: main.output })
    this.#failure = toStepError(main)
    const after = onFailure && (await this.#part(onFailure, cancelAt))
    if (after === 'cancelled') return ended(after)
    const { details = null, ...failure } = this.#failure
    if (!(after instanceof Failed)) return ended('failed', { error: this.#failure })
    const later = { ...toStepError(after), details: toStepError(after).details ?? null }
    return ended('failed', { error: { ...failure, details: { failure: details, onFailure: later } } })
  }

  /** `from` is `null`: repeats failed and abandoned steps. */
  retry(from: string | null, newKey: boolean): void {
    this.#attempt += 1
    this.#failure = null
    const { steps, onFailure = [] } = this.definition
    const start = from === null ? steps.length : steps.findIndex(({ id }) => id === from)
    const forgotten = new Set([
      ...findPaths([...steps.slice(start), ...onFailure]).keys(),
      ...(from === null ? [] : ['$output']),
    ])
    const still = from === null ? undefined : this.#flying.get(from)
    for (const known of [this.#out, this.#chosen, this.#flying, this.#children])
      for (const place of known.keys()) if (forgotten.has(place.replace(/\[.*/, ''))) known.delete(place)
    if (from !== null && still) this.#flying.set(from, still)
    if (newKey) this.#flying.clear()
  }

  /** Runs a part that ends by itself, by its time limit, or by cancellation. */
  #part(steps: readonly Step[], cancelAt: number | null) {
    const cutting = new Cutting<Failed | Stopped>(null)
    const out = this.#list(steps, { cutting, suffix: '' }).then(
      (output) => ({ output }),
      (thrown) => {
        const reason = cutting.reason ?? thrown
        if (reason instanceof Failed || reason instanceof Stopped) return reason
        throw thrown
      },
    )
    const deadline = this.clock
      .sleep(this.definition.timeoutSeconds * 1_000)
      .then(() => new Failed(error('run_timeout'), ''))
    const cancelled =
      cancelAt === null ? [] : [this.clock.sleepUntil(cancelAt).then(() => 'cancelled' as const)]
    return this.clock.until(Promise.race([out, deadline, ...cancelled]))
  }

  async #list(steps: readonly Step[], within: Within): Promise<unknown> {
    let output: unknown = null
    for (const step of steps) {
      if (within.cutting.isCut) throw new CutOff()
      output = await this.#step(step, within)
    }
    if (within.cutting.isCut) throw new CutOff()
    return output
  }

  async #step(step: Step, within: Within): Promise<unknown> {
    const place = step.id + within.suffix
    const known = this.#out.get(place)
    if (known?.passes) return known.output
    this.#out.delete(place)
    try {
      const output = await this.#done(step, place, within)
      // A run that was abandoned while stopping stops again.
      const passes = step.type !== 'stop'
      this.#out.set(place, { output, error: null, status: 'completed', passes })
      if (passes) return output
      within.cutting.root.cut(new Stopped(output))
      throw new Stopped(output)
    } catch (thrown) {
      if (!(thrown instanceof Failed)) throw thrown
      const passes = step.continueOnError
      this.#out.set(place, { output: null, error: thrown.error, status: 'failed', passes })
      if (passes) return null
      throw thrown
    }
  }

  async #done(step: Step, place: Place, within: Within): Promise<unknown> {
    switch (step.type) {
      case 'parallel':
        return this.#parallel(step, within)
      case 'for_each':
        return this.#forEach(step, place, within)
      case 'branch':
      case 'switch': {
        const name = await this.#choice(step, place, within)
        const [, steps] = listsIn(step).find(([each]) => each === name) ?? []
        return steps ? this.#list(steps, within) : null
      }
      case 'http':
      case 'api':
      case 'connector':
      case 'artifact':
      case 'publish':
        return this.#effect(step, place, within)
      default:
        return this.#single(step, place, within)
    }
  }

  async #choice(step: Step & { type: 'branch' | 'switch' }, place: Place, within: Within): Promise<unknown> {
    if (this.#chosen.has(place)) return this.#chosen.get(place)
    let name: string
    if (step.type === 'branch') name = (await this.#value(step.if, place, within)) ? 'then' : 'else'
    else {
      const value = await this.#value(step.value, place, within)
      const index = step.cases.findIndex(({ equals }) =>
        isDeepStrictEqual(this.#read(equals, place, within), value),
      )
      name = index < 0 ? 'default' : `cases[${index}]`
    }
    this.#chosen.set(place, name)
    return name
  }

  #parallel({ branches, concurrency = branches.length }: ParallelStep, within: Within): Promise<unknown> {
    const rows = branches.map(
      ({ steps }) =>
        (inner: Within) =>
          this.#list(steps, inner),
    )
    return this.#all(rows, concurrency, within).then((outputs) =>
      Object.fromEntries(branches.map(({ name }, index) => [name, outputs[index]])),
    )
  }

  async #forEach({ steps, items, concurrency }: ForEachStep, place: Place, within: Within): Promise<unknown> {
    if (!this.#chosen.has(place)) this.#chosen.set(place, await this.#value(items, place, within))
    const found = this.#chosen.get(place)
    const list: unknown[] = Array.isArray(found) ? found : found === null ? [] : [found]
    const rows = list.map((item, index) => (inner: Within) => {
      const suffix = `${within.suffix}[${index}]`
      return this.#list(steps, { ...inner, suffix, round: { item, index } })
    })
    return this.#all(rows, concurrency, within)
  }

  /** A failure abandons the other rows, except effects in flight; the first failure counts. */
  async #all(
    rows: ((inner: Within) => Promise<unknown>)[],
    concurrency: number,
    within: Within,
  ): Promise<unknown[]> {
    const cutting = new Cutting(within.cutting)
    const outputs: unknown[] = []
    let next = 0
    const work = async () => {
      while (next < rows.length && !cutting.isCut) {
        const index = next++
        try {
          outputs[index] = await rows[index]?.({ ...within, cutting })
        } catch (thrown) {
          if (thrown instanceof Failed && !cutting.isCut) cutting.cut(thrown)
          else if (!(thrown instanceof Failed || thrown instanceof CutOff || thrown instanceof Stopped))
            throw thrown
        }
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    if (cutting.isCutOutside) throw new CutOff()
    if (cutting.reason) throw cutting.reason
    return outputs
  }

  async #effect(step: EffectStep, place: Place, within: Within): Promise<unknown> {
    const uncertain = this.#flying.get(place)
    let going: Flight | undefined = uncertain && { ...uncertain, attempt: 1 }
    if (!going) {
      const key = sha256Hex(`${context.runId}:${place}:${this.#attempt}`)
      going = { input: await this.#value(inputOf(step), place, within), key, attempt: 1 }
    }
    const policy = step.retry ?? this.definition.retry
    for (;;) {
      const flight: Flight = going
      const { attempt, key, input } = flight
      this.#flying.set(place, going)
      this.#note(`perform ${place} ${attempt} ${key} ${JSON.stringify(input)}`)
      await this.clock.sleep(this.world.duration(`${key} ${attempt}`))
      const outcome = this.world.outcome(`${key} ${attempt}`)
      const isKnown = outcome.ok || !outcome.error.retryable || step.continueOnError
      if (isKnown) this.#flying.delete(place)
      if (outcome.ok) return outcome.output
      const { error: why } = outcome
      if (!policy || !why.retryable || attempt === policy.attempts || within.cutting.isCut)
        throw new Failed(why, place)
      const [baseMs, maxMs] = [policy.delaySeconds * 1_000, policy.maxDelaySeconds * 1_000]
      const delay = retryDelayMs({ attempt, strategy: policy.strategy, baseMs, maxMs })
      const asked = Math.min(why.retryAfterMs ?? 0, maxMs)
      this.#flying.set(place, going)
      await this.clock.sleep(Math.max(delay, asked), within.cutting)
      going = { ...going, attempt: attempt + 1 }
    }
  }

  async #single(step: Step, place: Place, within: Within): Promise<unknown> {
    const { world, clock } = this
    const name = `${place} ${this.#attempt}`
    switch (step.type) {
      case 'transform':
        return this.#value(step.value, place, within)
      case 'stop':
        return this.#value(step.output ?? null, place, within)
      case 'fail':
        await this.#value(null, place, within)
        throw new Failed(error('failed_by_workflow'), place)
      case 'wait': {
        const value = await this.#value(step.seconds ?? step.until ?? null, place, within)
        if (step.event) {
          const found = world.event(name)
          const timeoutMs = step.event.timeoutSeconds * 1_000
          await clock.sleep(Math.min(found?.afterMs ?? timeoutMs, timeoutMs), within.cutting)
          if (found && found.afterMs < timeoutMs) return found.event
          throw new Failed(error('wait_timeout'), place)
        }
        const until = typeof value === 'number' ? clock.now + value * 1_000 : Date.parse(String(value))
        if (until > clock.now) await clock.sleepUntil(until, within.cutting)
        return { at: new Date(clock.now).toISOString() }
      }
      case 'approval':
        await this.#value(null, place, within)
        return this.#approval(step, place, within)
      case 'workflow': {
        const child = this.#children.get(place) ?? {
          input: await this.#value(step.input ?? null, place, within),
          key: sha256Hex(`${context.runId}:${place}:${this.#attempt}`),
          ...{ attempt: 1, isThere: false },
        }
        const { key, input, isThere } = child
        const mine = `${key} ${this.#attempt}`
        this.#children.set(place, child)
        this.#note(
          isThere ? `go on ${place} run of ${key}` : `start ${place} ${key} ${JSON.stringify(input)}`,
        )
        await clock.sleep(world.duration(`start ${mine}`))
        this.#children.delete(place)
        if (!step.wait) return { runId: `run of ${key}` }
        this.#children.set(place, { ...child, isThere: true })
        await clock.sleep(world.duration(`child ${mine}`), within.cutting)
        const outcome = world.outcome(`child ${mine}`)
        if (outcome.ok || step.continueOnError) this.#children.delete(place)
        if (outcome.ok) return outcome.output
        throw new Failed(outcome.error, place)
      }
      default:
        throw new Error(`${step.type} holds others`)
    }
  }

  async #approval(step: Step & { type: 'approval' }, place: Place, within: Within): Promise<unknown> {
    const { deadlineSeconds = Infinity, reminderSeconds = Infinity, quorum } = step
    const begun = this.clock.now
    const [dueAt, decisions] = [begun + deadlineSeconds * 1_000, [] as { by: string; decision: string }[]]
    const coming = this.world.decisions(`${place} ${this.#attempt}`).sort((a, b) => a.afterMs - b.afterMs)
    let remindAt = begun + reminderSeconds * 1_000
    const refused = (expired: boolean) => {
      if (this.#judged.has(step.id)) return { approved: false, expired, decisions }
      throw new Failed(error(expired ? 'approval_expired' : 'approval_rejected'), place)
    }
    for (;;) {
      const next = coming[0] ? begun + coming[0].afterMs : Infinity
      if (remindAt >= dueAt) remindAt = Infinity
      const at = Math.min(next, dueAt, remindAt)
      await this.clock.sleepUntil(at, within.cutting)
      if (at === dueAt) return refused(true)
      if (at === remindAt) {
        this.#note(`reminded ${place}`)
        remindAt = at + reminderSeconds * 1_000
        continue
      }
      const decision = coming.shift()?.decision
      if (!decision || decisions.some(({ by }) => by === decision.by)) continue
      decisions.push(decision)
      if (decision.decision === 'reject') return refused(false)
      if (decisions.length === quorum) return { approved: true, expired: false, decisions }
    }
  }

  /** Evaluates like the sandbox: takes some time, during which it can be abandoned. */
  async #value(template: unknown, place: Place, within: Within): Promise<unknown> {
    const value = this.#read(template, place, within)
    await this.clock.sleep(this.world.duration(`evaluate ${place} ${this.#attempt}`), within.cutting)
    return value
  }

  #read(template: unknown, place: Place, within: Within): unknown {
    if (Array.isArray(template)) return template.map((item) => this.#read(item, place, within))
    if (template !== null && typeof template === 'object')
      return Object.fromEntries(
        Object.entries(template).map(([key, item]) => [key, this.#read(item, place, within)]),
      )
    const path = typeof template === 'string' && /^\{\{ (.*) \}\}$/.exec(template)?.[1]?.split('.')
    if (!path) return template
    const [root = '', id = '', ...rest] = path
    if (root === 'item') return within.round?.item ?? null
    if (root === 'index') return within.round?.index ?? null
    if (root === 'failure') return (this.#failure as Record<string, unknown> | null)?.[id] ?? null
    if (root === 'input') return (context.input as Record<string, unknown>)[id] ?? null
    const seen = findVisiblePlace(id, place, this.#paths)
    let value: unknown = seen === null ? null : this.#out.get(seen)
    for (const name of rest) value = (value as Record<string, unknown> | null | undefined)?.[name]
    return value ?? null
  }

  #note(what: string): void {
    this.log.push(`${this.clock.now} ${what}`)
  }
}

function inputOf(step: EffectStep): unknown {
  switch (step.type) {
    case 'http':
      return { url: step.url, headers: step.headers, query: step.query, body: step.body }
    case 'api':
      return { params: step.params, query: step.query, body: step.body }
    case 'connector':
    case 'artifact':
      return step.input ?? null
    case 'publish':
      return { eventType: step.eventType, payload: step.payload }
  }
}

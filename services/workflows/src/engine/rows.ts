import { enterState, leaveState } from './active-steps.js'
import { type Frame, isInFlight, type Row, type RunMemory, type Scope, type StepRun } from './memory.js'
import type { Program, StepList } from './program.js'

/** Opens the main part of a run, or the part that handles its failure. */
export function openPart(program: Program, memory: RunMemory, part: 'main' | 'onFailure'): void {
  const list = program[part]
  if (list === null) throw new Error('the definition has no such steps')
  memory[part] = newFrame(null, { lists: [list], items: null, limit: 1 })
  setDeadline(memory, memory.at + program.timeoutMs)
  startRows(program, memory, memory[part])
}

export function setDeadline(memory: RunMemory, at: number | null): void {
  if (memory.deadline) memory.timers.remove(memory.deadline)
  memory.deadline = at === null ? null : memory.timers.add(at, 'deadline')
}

type Rows = Pick<Frame, 'lists' | 'items' | 'limit'>

/** Opens a container: its steps replace it among the active ones. */
export function openContainer(program: Program, memory: RunMemory, step: StepRun, rows: Rows): Frame {
  leaveState(memory, step)
  step.state = { kind: 'open' }
  step.frame = newFrame(step, rows)
  startRows(program, memory, step.frame)
  return step.frame
}

function newFrame(step: StepRun | null, { lists, items, limit }: Rows): Frame {
  const total = items ? items.length : lists.length
  const outputs = new Array<unknown>(total).fill(null)
  return { step, lists, items, total, limit, begun: 0, rows: new Map(), outputs, flying: 0, closing: null }
}

/** Starts rows of a frame up to its concurrency limit. */
export function startRows(program: Program, memory: RunMemory, frame: Frame): void {
  while (frame.rows.size < frame.limit && frame.begun < frame.total) {
    const row = newRow(memory, frame, frame.begun)
    frame.begun += 1
    frame.rows.set(row.index, row)
    startNext(program, memory, row)
  }
}

function newRow(memory: RunMemory, frame: Frame, index: number): Row {
  const around = frame.step?.row
  const suffix = around?.suffix ?? ''
  const list = listAt(frame, frame.items ? 0 : index)
  const base = { frame, index, list, position: 0, current: null }
  const parent = around?.scope ?? memory.scope
  if (frame.items === null) return { ...base, suffix, scope: parent }
  const scope: Scope = { parent, done: new Map(), round: { item: frame.items[index], index } }
  return { ...base, suffix: `${suffix}[${index}]`, scope }
}

function listAt({ lists }: Frame, index: number): StepList {
  const list = lists[index]
  if (list === undefined) throw new Error('a container has no such list')
  return list
}

/** Starts the next step of a row. */
export function startNext(program: Program, memory: RunMemory, row: Row): void {
  memory.meter.operations += 1
  const node = row.list.nodes[row.position]
  if (node === undefined) throw new Error('a list of steps is longer than it is')
  const place = `${node.id}${row.suffix}`
  const state = { kind: 'ready' } as const
  const step: StepRun = {
    node,
    place,
    row,
    born: memory.attempt,
    state,
    task: null,
    timer: null,
    frame: null,
  }
  row.current = step
  row.scope.done.delete(node.id)
  memory.observer?.begun(step)
  const { step: definition, lists } = node
  if (definition.type === 'parallel' && !findPin(program, step))
    openContainer(program, memory, step, {
      lists,
      items: null,
      limit: definition.concurrency ?? lists.length,
    })
  else enterState(memory, step, state)
}

/** The pinned output of a step, which replaces its execution. */
export function findPin({ pins }: Program, { place, node }: StepRun): { output: unknown } | undefined {
  const name = pins.has(place) ? place : node.id
  return pins.has(name) ? { output: pins.get(name) } : undefined
}

/** Abandons the active steps of a frame, except effects, whose outcome must be known. */
export function abandonFrame(memory: RunMemory, frame: Frame): void {
  for (const { current } of frame.rows.values()) {
    memory.meter.operations += 1
    if (current?.state.kind === 'open') abandonContainer(memory, current)
    else if (current && !isInFlight(current)) abandonStep(memory, current)
  }
}

/** Its frame is kept for a retry. */
function abandonContainer(memory: RunMemory, step: StepRun): void {
  if (step.frame) abandonFrame(memory, step.frame)
  step.state = { kind: 'settled' }
  memory.observer?.settled(step, { kind: 'cut' })
}

/** Abandons all active steps. */
export function abandonAll(memory: RunMemory): void {
  for (const step of [...memory.live.values()]) abandonStep(memory, step)
  for (const part of [memory.main, memory.onFailure]) if (part) abandonFrame(memory, part)
}

function abandonStep(memory: RunMemory, step: StepRun): void {
  if (memory.live.get(step.place) !== step) return
  const { state } = step
  if (state.kind === 'waiting' && state.waiting.for === 'run') memory.abandonedRuns.add(state.waiting.runId)
  leaveState(memory, step)
  memory.observer?.settled(step, { kind: 'cut' })
}

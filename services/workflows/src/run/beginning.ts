import { isPlain } from '@opsplane/sandbox'
import type { Evaluate } from './evaluate.js'
import { createMind, type Decided, type Mind, type MindOptions } from './mind.js'
import type { RunIdentity } from './model.js'

export interface Beginning {
  mind: Mind
  /** What has happened by then. */
  entries: Decided[]
}

type NewRun = Omit<MindOptions, 'recorded'> & { identity: RunIdentity }

/**
 * How a run begins, all of which is written with the run itself: it is started and, where that takes neither a child process
 * nor more than its own journal, its first step is evaluated.
 */
export async function begin(run: NewRun, at: number, evaluate: Evaluate): Promise<Beginning> {
  const started = start(run, at)
  const [first, ...others] = started.mind.tasks()
  if (first?.kind !== 'evaluate' || others.length > 0 || !first.templates.every(isPlain)) return started
  const { mind, entries } = started
  const signal = await evaluate({ identity: run.identity, mind }, first)
  entries.push(...mind.decide(signal, at))
  // An end and what is waited for are written otherwise.
  const goesOn = mind.face().endedAt === null && mind.tasks().every(({ kind }) => kind !== 'await')
  return goesOn ? started : start(run, at)
}

function start(run: NewRun, at: number): Beginning {
  const mind = createMind({ ...run, recorded: [] })
  return { mind, entries: mind.decide({ kind: 'start' }, at) }
}

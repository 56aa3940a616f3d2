import { isPlain } from '@opsplane/sandbox'
import type { Evaluate } from './evaluate.js'
import { type Decided, type FoldedRun, foldRun, type RunHistory } from './folded-run.js'
import type { RunIdentity } from './model.js'

export interface Beginning {
  folded: FoldedRun
  /** What has happened by then. */
  entries: Decided[]
}

type NewRun = Omit<RunHistory, 'recorded'> & { identity: RunIdentity }

/**
 * How a run begins, all of which is written with the run itself: it is started and, where that takes neither a child process
 * nor more than its own journal, its first step is evaluated.
 */
export async function begin(run: NewRun, at: number, evaluate: Evaluate): Promise<Beginning> {
  const started = start(run, at)
  const [first, ...others] = started.folded.tasks()
  if (first?.kind !== 'evaluate' || others.length > 0 || !first.templates.every(isPlain)) return started
  const { folded, entries } = started
  const signal = await evaluate({ identity: run.identity, folded }, first)
  entries.push(...folded.decide(signal, at))
  // An end and what is waited for are written otherwise.
  const goesOn = folded.face().endedAt === null && folded.tasks().every(({ kind }) => kind !== 'await')
  return goesOn ? started : start(run, at)
}

function start(run: NewRun, at: number): Beginning {
  const folded = foldRun({ ...run, recorded: [] })
  return { folded, entries: folded.decide({ kind: 'start' }, at) }
}

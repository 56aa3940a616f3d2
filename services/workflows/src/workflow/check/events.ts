import { unknownEventPatterns, type WorkflowDefinition, type WorkflowProblem } from '@opsplane/contracts'
import { problem } from './structure.js'
import { type Path, visitSteps } from './walk.js'

/** Finds event types and patterns that match no event of the platform. */
export function checkEvents(definition: WorkflowDefinition): WorkflowProblem[] {
  const { trigger } = definition
  const started = trigger.type === 'event' ? unknownEvents(null, ['trigger', 'events'], trigger.events) : []
  const awaited = visitSteps(definition).flatMap(({ step, path }) =>
    step.type === 'wait' && step.event
      ? unknownEvents(step.id, [...path, 'event', 'types'], step.event.types)
      : [],
  )
  return [...started, ...awaited]
}

const unknownEvents = (step: string | null, path: Path, patterns: readonly string[]): WorkflowProblem[] =>
  unknownEventPatterns(patterns).map(({ index, pattern, message }) =>
    problem(step, [...path, index], 'unknown_event', `${pattern} ${message}`),
  )

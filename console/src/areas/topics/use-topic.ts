import { useEffect, useState } from 'react'
import type { TopicEvent } from '../../api/api.js'
import { followTopic } from '../../api/audit-queries.js'
import type { Place } from '../../place/place.js'

/** Maximum number of events shown; older ones are dropped, because a topic has no end. */
export const maxShown = 500

interface TopicState {
  /** Newest first. */
  events: readonly TopicEvent[]
  isCut: boolean
  isLoading: boolean
  error: unknown
}
const nothing: TopicState = { events: [], isCut: false, isLoading: true, error: undefined }

/** Follows a topic while the component is mounted. */
export function useTopic({ workspace, environment }: Place, name: string): TopicState & { retry(): void } {
  const [state, setState] = useState(nothing)
  const [turn, setTurn] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new `turn` restarts from the beginning.
  useEffect(() => {
    const abortController = new AbortController()
    const follow = async () => {
      setState(nothing)
      try {
        for await (const events of followTopic({ workspace, environment }, name, abortController.signal))
          setState((before) => withMore(before, events))
      } catch (error) {
        if (!abortController.signal.aborted) setState((before) => ({ ...before, isLoading: false, error }))
      }
    }
    void follow()
    return () => abortController.abort()
  }, [workspace, environment, name, turn])
  return { ...state, retry: () => setTurn((before) => before + 1) }
}

function withMore({ events, isCut }: TopicState, more: readonly TopicEvent[]): TopicState {
  const all = more.length === 0 ? events : [...[...more].reverse(), ...events]
  return {
    events: all.slice(0, maxShown),
    isCut: isCut || all.length > maxShown,
    ...{ isLoading: false, error: undefined },
  }
}

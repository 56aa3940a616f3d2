import { useQueryClient } from '@tanstack/react-query'
import { createContext, use, useEffect, useState, useSyncExternalStore } from 'react'
import { versionQuery } from '../api/version.js'
import type { Place } from '../place/place.js'
import { createBatches } from './batches.js'
import { startStream } from './browser.js'
import { type Change, findChanges, isChanged } from './changes.js'
import type { LiveStatus } from './live-view.js'

/** Stored outside React: otherwise the whole page would render at every event just to update one word. */
export interface LiveStore {
  status(): LiveStatus
  subscribe(read: () => void): () => void
  set(next: Partial<LiveStatus>): void
}

function createStore(): LiveStore {
  let status: LiveStatus = { state: 'connecting', heardMs: Date.now() }
  const readers = new Set<() => void>()
  return {
    status: () => status,
    subscribe: (read) => {
      readers.add(read)
      return () => readers.delete(read)
    },
    set: (next) => {
      status = { ...status, ...next }
      for (const read of readers) read()
    },
  }
}

export const LiveContext = createContext<LiveStore | undefined>(undefined)
const noStatus = { status: () => undefined, subscribe: () => () => undefined }

/** Status of the place's event stream; `undefined` outside of a place. */
export function useLive(): LiveStatus | undefined {
  const { status, subscribe } = use(LiveContext) ?? noStatus
  return useSyncExternalStore(subscribe, status)
}

/**
 * Reads the event stream of the place while the shell is mounted, and invalidates the queries that it makes out of date. A
 * refused stream is opened again after the next sign-in, which increments `signIns`.
 */
export function useStream({ workspace, environment }: Place, userId: string, signIns: number): LiveStore {
  const queries = useQueryClient()
  const [store] = useState(createStore)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each sign-in restarts the stream.
  useEffect(() => {
    store.set({ state: 'connecting', heardMs: Date.now() })
    let isFirst = true
    const turns = createBatches<Change>({ after: later }, (changes) => {
      void queries.invalidateQueries({
        predicate: ({ queryKey: [ofWorkspace, ofEnvironment, ...key], meta }) =>
          meta?.isFixed !== true &&
          ofWorkspace === workspace &&
          ofEnvironment === environment &&
          isChanged(key, changes),
      })
    })
    const leave = startStream({ workspace, environment }, userId, {
      onMessage: (message) => {
        turns.put(findChanges(message, isFirst))
        // A restarted gateway may serve a newer build of the console.
        if (message.event === 'ready' && !isFirst)
          void queries.invalidateQueries({ queryKey: versionQuery.queryKey })
        if (message.event === 'ready') isFirst = false
        store.set({ heardMs: Date.now() })
      },
      onState: (state) => store.set({ state }),
    })
    return () => {
      leave()
      turns.stop()
    }
  }, [workspace, environment, userId, signIns, queries, store])
  return store
}

function later(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms)
  return () => clearTimeout(timer)
}

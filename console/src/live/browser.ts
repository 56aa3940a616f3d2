import { openEventStream } from '../api/api.js'
import type { Place } from '../place/place.js'
import { readStream } from './reader.js'
import { type Channel, type SharedStreamOptions, shareStream, type TabMessage } from './shared-stream.js'

/**
 * Starts the event stream of a place, shared by all tabs of this browser. `userId` separates the streams of different
 * persons.
 */
export function startStream(
  place: Place,
  userId: string,
  handlers: Pick<SharedStreamOptions, 'onMessage' | 'onState'>,
): () => void {
  const name = `opsplane-stream/${place.workspace}/${place.environment}/${userId}`
  return shareStream({
    ...handlers,
    lead: (work, signal) => leadBy(navigator.locks, name, work, signal),
    channel: openChannel(navigator.locks === undefined ? undefined : name),
    read: (options) =>
      readStream({
        ...options,
        open: (after, signal) => openEventStream(place, after, signal),
        wait,
        random: Math.random,
      }),
  })
}

/** Origins without HTTPS have no Web Locks, so each tab reads its own stream there. */
async function leadBy(
  locks: LockManager | undefined,
  name: string,
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (locks === undefined) return work()
  await locks.request(name, { signal }, work)
}

function openChannel(name: string | undefined): Channel {
  if (name === undefined) return { post: () => undefined, listen: () => undefined, close: () => undefined }
  const channel = new BroadcastChannel(name)
  return {
    post: (message) => channel.postMessage(message),
    listen: (onMessage) => {
      channel.onmessage = ({ data }: MessageEvent<TabMessage>) => onMessage(data)
    },
    close: () => channel.close(),
  }
}

/** Resolves after `ms` milliseconds, or as soon as the network is back. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener('online', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    addEventListener('online', done)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}

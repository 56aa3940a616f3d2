import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { InternalVerifier } from '../calls/internal-token.js'
import type { Route } from '../route/route.js'

/** The parts of an app that links use. */
export interface Feeds {
  verifier: InternalVerifier
  serve(req: IncomingMessage, res: ServerResponse): void
}

const feedsByApp = new WeakMap<RequestListener, Feeds>()

export const keepFeeds = (app: RequestListener, feeds: Feeds): void => void feedsByApp.set(app, feeds)

export const findFeeds = (app: RequestListener): Feeds | undefined => feedsByApp.get(app)

/** Whether an operation streams events as they occur, while the client reads. */
export const isFeed = ({ kind, answers }: Route): boolean =>
  kind === 'stream' && answers?.includes('text/event-stream') === true

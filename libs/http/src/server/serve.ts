import type { ErrorDetail } from '@opsplane/contracts'
import { type Clock, createTurns, type Logger } from '@opsplane/runtime'
import type { Tracing } from '@opsplane/telemetry'
import type { Request, Response } from 'express'
import type { z } from 'zod'
import { authenticate } from '../calls/authenticate.js'
import type { InternalVerifier } from '../calls/internal-token.js'
import { sendCachedDocument } from '../documents/cached-document.js'
import { applyConditionalGet } from '../route/conditional.js'
import type { DocumentAnswer } from '../route/document.js'
import { type Locate, locator } from '../route/location.js'
import { createActionFilter } from '../route/permitted-actions.js'
import { arrayParameters, parseQuery } from '../route/query.js'
import { readRawRequest, sendRaw } from '../route/raw.js'
import type { RequestMeta, Route, StreamClient } from '../route/route.js'
import type { PathValues } from '../route/routing.js'
import { sendLines } from '../route/stream.js'
import { readUpload } from '../route/upload.js'
import { parsePart, validationFailed } from '../route/validation.js'
import { zonedDays } from '../route/zoned-days.js'
import { buildAnswer, storedAnswer } from './answer.js'
import { readJsonBody } from './body.js'
import { deprecationHeaders } from './deprecation.js'
import { malformedUrl, sendError } from './errors.js'
import { type Answer, beginExchange, type Exchange, followExchange, send } from './exchange.js'
import { checkKey, computeFingerprint, type Idempotency, scopedKey } from './idempotency.js'
import { createLargePages, isLargePage } from './large-pages.js'
import { createMeta } from './meta.js'
import type { RecorderFor } from './request-metrics.js'
import { checkAnswer, checkReplay } from './response-check.js'

interface ServeContext {
  /** All routes of the app. */
  routes: readonly Route[]
  verifier: InternalVerifier | undefined
  idempotency: Idempotency | undefined
  log: Logger
  clock: Clock
  checkResponses: boolean
  translate: (error: unknown) => unknown
  recorderFor: RecorderFor
  tracing: Tracing
}

/** The parts of a request, as sent or as parsed. */
interface Parts {
  params: unknown
  query: unknown
  body: unknown
}

export type RouteHandler = (req: Request, res: Response, params: PathValues) => void

/**
 * A response may be megabytes: those of concurrent requests are written in slices by
 * turns, so that they do not block others.
 */
const answerTurn = createTurns()
const largePages = createLargePages()

/** The complete handler of a route, from the request id to the envelope. */
export function routeHandler(route: Route, context: ServeContext): RouteHandler {
  const arrays = arrayParameters(route.query)
  const parse = partsParser(route)
  const locate = locator(route, context.routes)
  const headers = deprecationHeaders(route)
  const narrow = createActionFilter(route)

  const serve = async (exchange: Exchange, req: Request, params: PathValues): Promise<void> => {
    if (req.url.includes('%00')) throw malformedUrl()
    const caller = await authenticate(route, req, context.verifier)
    exchange.workspaceId = caller.tenant.workspaceId
    if (route.kind === 'raw') {
      const meta = createMeta(route, exchange, caller, context.clock)
      const body = await readRawRequest(req, route, meta)
      return sendRaw(exchange, await route.handler({ params, query: {}, body, meta }))
    }
    const body = route.body ? await readJsonBody(req, route.bodyLimitBytes) : undefined
    const sent = { params, query: parseQuery(req.url, arrays), body }
    const meta = createMeta(route, exchange, caller, context.clock)
    const parsed = parse(sent)
    if (route.upload) parsed.body = readUpload(req, route.upload, route.bodyLimitBytes)
    if (route.kind === 'stream') {
      const lastEventId = req.headers['last-event-id']?.toString()
      const client = streamClient(exchange.res)
      const content = await route.handler({ ...parsed, meta, lastEventId, client })
      return sendLines(exchange, route, content, context.checkResponses)
    }
    if (route.kind === 'document') {
      const { document, headers } = (await route.handler({ ...parsed, meta })) as DocumentAnswer
      await sendCachedDocument(exchange, document, headers)
      return
    }
    const reply = async () => {
      const answer = await perform(route, context, { req, sent, parsed, meta, locate, narrow })
      const unseen = applyConditionalGet(route, req.headers['if-none-match'], answer)
      if (route.kind === 'list' || route.waits) await answerTurn(() => send(exchange, unseen))
      else send(exchange, unseen)
    }
    if (route.kind === 'list' && route.workspace === 'required' && !route.waits && isLargePage(parsed.query))
      await largePages.run(caller.tenant.workspaceId, exchange.res, reply)
    else await reply()
  }

  return (req, res, params) => {
    const exchange = beginExchange(req, res, route.path, context.log)
    if (headers) exchange.headers = headers
    exchange.record = context.recorderFor(route, req.method)
    const { traceparent } = req.headers
    if (traceparent !== undefined)
      followExchange(
        exchange,
        context.tracing.follow(route.operationId, String(traceparent), { kind: 'server' }),
      )
    serve(exchange, req, params).catch((error: unknown) => sendError(exchange, context.translate(error)))
  }
}

const streamClient = (res: Exchange['res']): StreamClient => ({
  hasLeft: () => res.destroyed,
  onLeave: (listener) => void res.once('close', listener),
  cut: () => void res.destroy(),
})

/**
 * Value that replaces an absent body: `undefined`, or `{}` if the schema accepts that or then reports the
 * missing fields. Computed on the first such request, because the first parse compiles the schema: for
 * all routes, a fifth of a service's startup time.
 */
function insteadOfNone(body: Route['body']): () => object | undefined {
  let found: { value: object | undefined } | undefined
  return () => {
    found ??= { value: body && !body.safeParse(undefined).success && isObject(body) ? {} : undefined }
    return found.value
  }
}

/** Whether a schema accepts `{}`, or only reports missing fields for it. */
function isObject(body: z.ZodType): boolean {
  const { success, error } = body.safeParse({})
  return success || error.issues.every(({ path }) => path.length > 0)
}

/** Parses all parts before it throws, so that all problems are reported together. */
function partsParser({ params, query, body }: Route): (sent: Parts) => Parts {
  const absentBody = insteadOfNone(body)
  const zoned = zonedDays(query)
  return (sent) => {
    const details: ErrorDetail[] = []
    const parsed = {
      params: params ? parsePart(params, sent.params, 'path', details) : sent.params,
      query: parsePart(query, sent.query, 'query', details),
      body: body && parsePart(body, sent.body === undefined ? absentBody() : sent.body, 'body', details),
    }
    if (details.length > 0) throw validationFailed(details)
    return { ...parsed, query: zoned(parsed.query) }
  }
}

async function perform(
  route: Route,
  context: ServeContext,
  request: {
    req: Request
    sent: Parts
    parsed: Parts
    meta: RequestMeta
    locate: Locate | undefined
    narrow: ReturnType<typeof createActionFilter>
  },
): Promise<Answer> {
  const { req, sent, parsed, meta, locate, narrow } = request
  const shown = (data: unknown) => (narrow ? narrow(data, meta.principal.permissions) : data)
  const location = (data: unknown) => locate?.(sent.params, data)
  const run = async () => {
    const data = await route.handler({ ...parsed, meta })
    if (context.checkResponses) checkAnswer(route, data)
    return data
  }
  const key = req.headers['idempotency-key']
  if (key === undefined || route.idempotency === 'none' || !context.idempotency) {
    const data = await run()
    return buildAnswer(route, shown(data), location(data))
  }
  checkKey(String(key))
  const scope = { tenant: meta.tenant, actorId: meta.actor.id, method: req.method, path: req.path }
  meta.repetitionKey = scopedKey({ ...scope, key: String(key) })
  const attempt = {
    mode: route.idempotency,
    key: meta.repetitionKey,
    fingerprint: computeFingerprint(String(key), sent.body, sent.query),
    meta,
    perform: run,
    answer: (data: unknown) => buildAnswer(route, shown(data), location(data)),
    respond: (data: unknown) => storedAnswer(route, shown(data), location(data)),
  }
  return context.idempotency.run(context.checkResponses ? checkReplay(attempt) : attempt)
}

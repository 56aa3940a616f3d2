import {
  type components,
  createClient,
  type OpsplaneClient,
  OpsplaneError,
  parseExact,
} from '@opsplane/client'
import type { Place } from '../place/place.js'
import { sendWithProof } from './proving.js'

type Schemas = components['schemas']
export type Webhook = Schemas['Webhook']
export type Delivery = Schemas['Delivery']
export type DeliveryDetail = Schemas['DeliveryDetail']
export type DeliveryAttempt = Schemas['DeliveryAttempt']
export type DeliveryStatus = Schemas['DeliveryStatus']
export type ReplayJob = Schemas['ReplayJob']
export type RunRetry = Schemas['RunRetry']
export type ExecutionRetry = Schemas['ExecutionRetry']
export type ReplayRequest = Schemas['ReplayDeliveries']
export type AuditEvent = Schemas['AuditEvent']
export type AuditVerification = Schemas['AuditVerification']
export type EventDescription = Schemas['EventDescription']
export type TopicEvent = Schemas['TopicEvent']
export type FailureGroup = Schemas['FailureGroup']
export type Resolved = Schemas['ResolvedReference']
export type Me = Schemas['Me']
export type FactorChallenge = Schemas['FactorChallenge']
export type User = Schemas['User']
export type Role = Schemas['Role']
export type ApiKey = Schemas['Token']
export type Execution = Schemas['Execution']
export type Run = Schemas['Run']
export type Secret = Schemas['UsedSecret']
export type IdentityProvider = Schemas['IdentityProvider']
export type Notification = Schemas['Notification']
export type SessionDetail = Schemas['SessionDetail']
export type PlatformStatus = Schemas['PlatformStatus']
export type WorkspaceStatus = Schemas['WorkspaceStatus']
export type DeadLetter = Schemas['DeadLetter']

export const apiPath = '/api/v1'

/**
 * A browser on an origin without HTTPS does not send the site of a request. The gateway recognizes the console's own
 * requests by this header, which other sites cannot send.
 */
const ofPage: [string, string] = ['X-Requested-With', 'console']

function send(request: Request): Promise<Response> {
  request.headers.set(...ofPage)
  return fetch(request)
}

const baseUrl = () => new URL(apiPath, location.origin).href

/**
 * Typed client that authenticates by the session cookie; without a place for resources that belong to a person. If a
 * request lacks a proof of identity, the person is prompted in place.
 */
export const createApi = (place?: Place): OpsplaneClient =>
  createClient({ baseUrl: baseUrl(), fetch: (request) => sendWithProof(request, send), ...place })

/** Same client for requests that prove the person's identity: it never prompts for a proof itself. */
export const provingApi = (): OpsplaneClient => createClient({ baseUrl: baseUrl(), fetch: send })

/** Opens the event stream of a place after the event with `seq` = `after`. Returns every response, including refusals. */
export function openEventStream(
  place: Place,
  after: number | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const headers = headersOf(place)
  headers.set('Accept', 'text/event-stream')
  if (after !== undefined) headers.set('Last-Event-ID', String(after))
  return fetch(`${apiPath}/events/stream`, { headers, signal })
}

interface OriginCall {
  method?: 'GET' | 'POST'
  body?: object
  signal?: AbortSignal
}

/** Calls a path relative to the origin, or one that is not in the OpenAPI document of the client. Throws OpsplaneError. */
export async function callOrigin<Body>(
  place: Place,
  path: string,
  { method = 'GET', body, signal }: OriginCall = {},
): Promise<Body> {
  const headers = headersOf(place)
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  const response = await fetch(path, {
    ...{ method, headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  const answer = parseBody(await response.text())
  if (!response.ok) throw new OpsplaneError(response.status, answer, response)
  return answer as Body
}

const headersOf = ({ workspace, environment }: Place) =>
  new Headers([ofPage, ['X-Workspace', workspace], ['X-Environment', environment]])

/** A body that is not JSON is an error page of an intermediary, such as a proxy. */
function parseBody(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

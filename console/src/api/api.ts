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
 * A browser on a plain origin does not name the site of a request: by this header, which no other site can send, the gateway
 * knows that the page is its own.
 */
const ofPage: [string, string] = ['X-Requested-With', 'console']

function send(request: Request): Promise<Response> {
  request.headers.set(...ofPage)
  return fetch(request)
}

const baseUrl = () => new URL(apiPath, location.origin).href

/**
 * The typed client by the cookie of the session; without a place for what belongs to a person. What lacks a proof asks for it
 * in place.
 */
export const createApi = (place?: Place): OpsplaneClient =>
  createClient({ baseUrl: baseUrl(), fetch: (request) => sendWithProof(request, send), ...place })

/** The same for requests that prove the person's identity: they never ask for a proof themselves. */
export const provingApi = (): OpsplaneClient => createClient({ baseUrl: baseUrl(), fetch: send })

/** The stream of events of a place, from behind the event of that `seq` on. Any answer is given back, a refusal as well. */
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

/** Calls what is below the origin itself, or not in the document that the client is made of. Throws OpsplaneError. */
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

/** What is no JSON is an error page of something in between. */
function parseBody(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

export { callingService, causationHeader } from './calls/authenticate.js'
export { CallFailure } from './calls/call-failure.js'
export {
  causationTooDeep,
  computeRequestDepth,
  createCauses,
  type DepthsAfter,
  type DepthsOf,
  findEventCause,
  maxCausationDepth,
  remoteDepths,
} from './calls/causation.js'
export {
  causeHeader,
  createCauseSigner,
  createCauseVerifier,
  type SignCause,
  type VerifyCause,
} from './calls/cause-header.js'
export { type CarriedLimits, createDelegations, type Delegations, grantCallers } from './calls/delegation.js'
export { createRequireEnvironment, type RequireEnvironment } from './calls/environment-scope.js'
export { requireFreshSignIn } from './calls/fresh-sign-in.js'
export { createGrants } from './calls/grants.js'
export { createAddressFinder, InnerRefusal, readdress } from './calls/inner-refusal.js'
export { clientTls, type InternalTls, readInternalTls } from './calls/internal-tls.js'
export {
  createInternalIssuer,
  createInternalVerifier,
  generateServiceKeys,
  type InternalIssuer,
  type InternalVerifier,
} from './calls/internal-token.js'
export { measureCertificates } from './calls/measure-certificates.js'
export { createSecretTargets, type SavingMeta, type SecretTargets } from './calls/secret-targets.js'
export { createSecretValues, type ResolveSecrets, type SecretUser } from './calls/secret-values.js'
export { type CallOptions, type ServiceClient, serviceClient } from './calls/service-client.js'
export { createSharedBudgets, remoteLeases } from './calls/shared-budgets.js'
export { type AssetList, type BuiltAssets, builtAssets } from './documents/built-assets.js'
export { type CachedDocument, cacheDocument, sendCachedDocument } from './documents/cached-document.js'
export { cacheJson } from './documents/json-cache.js'
export { stringifyInSlices } from './documents/sliced-json.js'
export { frameChannel, type SendFrame } from './links/frame-channel.js'
export { creditPayload, type Frame, link } from './links/frames.js'
export type { OpenApiDocument } from './openapi/openapi.js'
export { mergeOpenApi } from './openapi/openapi-merge.js'

export { type AnsweredBytes, answerBody, answerText } from './outbound/answer/answer-body.js'
export { createEgress, type SpendEgress } from './outbound/egress.js'
export { openOutbound } from './outbound/open-outbound.js'
export {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundResponse,
} from './outbound/outbound.js'
export { describeOutboundError, OutboundError, type OutboundErrorKind } from './outbound/outbound-error.js'
export { createOutboundHttp, type OutboundHttp } from './outbound/outbound-http.js'
export { createSecretFilling, headerFault } from './outbound/secret-filling.js'
export {
  createSecretHttp,
  parseTemplateHost,
  redactResponse,
  type SecretResponse,
  type SendSecretRequest,
} from './outbound/secret-request.js'
export type { OutboundStreams } from './outbound/streams.js'
export type { OutboundTimings } from './outbound/timings.js'
export { type CallOperation, createCallOperation, OperationInput } from './platform/operation-call.js'
export {
  createOperations,
  createPermissionFinder,
  type FindPermission,
  type Operations,
} from './platform/operations.js'
export { type CallPlatform, createCallPlatform, type PlatformCaller } from './platform/platform-call.js'
export { type PlatformClients, platformClients } from './platform/platform-clients.js'
export { defineDocument } from './route/document.js'
export { diffDocuments } from './route/document-diff.js'
export { defineList, type ListPage, type Sort } from './route/list.js'
export { defineRaw, type RawAnswer, type RawRequest } from './route/raw.js'
export { defineResource } from './route/resource.js'
export { defineRoute, type Method, type RequestMeta, type Route, type StreamClient } from './route/route.js'
export { routeTableRoute } from './route/route-table.js'
export { methodNotAllowed, RouteTree, routeNotFound } from './route/routing.js'
export { defineStream, type FileStream, type TextStream } from './route/stream.js'
export { anyMediaType, defineUpload } from './route/upload.js'
export { jsonPointer, maxDetails, parseField, validationFailed } from './route/validation.js'
export { spanIn } from './route/zoned-days.js'
export { createApp } from './server/app.js'
export { isJson, readJson, readJsonText } from './server/body.js'
export { type ByteRange, parseByteRange } from './server/byte-range.js'
export { sendError } from './server/errors.js'
export { beginExchange, type Exchange, followExchange, logRequest, send } from './server/exchange.js'
export { claimMs, type IdempotencyStore } from './server/idempotency.js'
export { type Listening, listen } from './server/listen.js'
export { type Checks, notReady, readReadiness } from './server/readiness.js'
export { requestIdFrom } from './server/request-id.js'
export { noOperation, type RecorderFor, requestRecorders } from './server/request-metrics.js'
export { securityHeaders } from './server/security-headers.js'

export { type AppOptions, createApp } from './app.js'
export { anonymousPrincipal, callingService, causationHeader } from './authenticate.js'
export { isJson, readJson } from './body.js'
export { type ByteRange, rangeOf } from './byte-range.js'
export { CallFailure } from './call-failure.js'
export {
  createCauses,
  type DepthsAfter,
  type DepthsOf,
  depthOfRequest,
  maxCausationDepth,
  remoteDepths,
} from './causation.js'
export { createDelegations, type Delegations } from './delegation.js'
export { type BrowserDocument, type DocumentContract, defineDocument } from './document.js'
export { diffOf } from './document-diff.js'
export { createRequireEnvironment, type RequireEnvironment } from './environment-scope.js'
export { errorHeaders, sendError, toApiError } from './errors.js'
export { type Answer, beginExchange, type Exchange, logRequest, send } from './exchange.js'
export { createGrants, type Grants } from './grants.js'
export { claimMs, type IdempotencyStore } from './idempotency.js'
export { clientTls, type InternalTls, readInternalTls } from './internal-tls.js'
export {
  createInternalIssuer,
  createInternalVerifier,
  generateServiceKeys,
  type InternalCall,
  type InternalIssuer,
  type InternalVerifier,
  type VerifiedToken,
} from './internal-token.js'
export { defineList, type ListContract, type ListPage, type Sort } from './list.js'
export { type Listening, type ListenOptions, listen } from './listen.js'
export { type OpenApiDocument, openApiDocument } from './openapi.js'
export { mergeOpenApi } from './openapi-merge.js'
export { type AddressPolicy, createAddressPolicy } from './outbound/addresses.js'
export {
  createFilledHttp,
  type FilledAnswer,
  type FilledHttpOptions,
  type FilledRequest,
  hostOfWritten,
  type SendFilled,
  shownAnswer,
} from './outbound/filled-request.js'
export { openOutbound } from './outbound/open-outbound.js'
export {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundRequest,
  type OutboundResponse,
} from './outbound/outbound.js'
export { OutboundError, type OutboundErrorKind } from './outbound/outbound-error.js'
export { createOutboundHttp, type OutboundHttp } from './outbound/outbound-http.js'
export type { OutboundStreams, StreamRequest, StreamTarget, StreamTls } from './outbound/streams.js'
export {
  type CallOperation,
  createCallOperation,
  type OperationAnswer,
  OperationInput,
} from './platform/operation-call.js'
export { createOperations, type Operation, type Operations } from './platform/operations.js'
export {
  type CallPlatform,
  createCallPlatform,
  type PlatformCall,
  type PlatformCaller,
} from './platform/platform-call.js'
export { type PlatformClients, platformClients } from './platform/platform-clients.js'
export { defineRaw, type RawAnswer, type RawContract, type RawRequest } from './raw.js'
export { RecentMap } from './recent-map.js'
export { requestIdFrom } from './request-id.js'
export {
  type Deprecation,
  defineRoute,
  type Method,
  type RequestMeta,
  type Route,
  type RouteContract,
  type Scope,
} from './route.js'
export { routeTableRoute } from './route-table.js'
export { methodNotAllowed, RouteTree, routeNotFound } from './routing.js'
export {
  createSecretValues,
  type ResolveSecrets,
  type SecretSource,
  type SecretUser,
} from './secret-values.js'
export { securityHeaders } from './security-headers.js'
export {
  type CallOptions,
  type ServiceAnswer,
  type ServiceClient,
  type ServiceClientOptions,
  type ServiceRequest,
  serviceClient,
} from './service-client.js'
export {
  defineStream,
  type FileStream,
  type LineStream,
  type StreamContract,
  type TextStream,
} from './stream.js'
export { anyMediaType, defineUpload, type UploadContract } from './upload.js'
export { jsonPointer, mostDetails, parseField, validationFailed } from './validation.js'

import { IncomingMessage, type RequestListener, type ServerOptions, ServerResponse } from 'node:http'
import type { Express } from 'express'

/**
 * Classes whose instances have the prototype of an Express app's requests and responses from the
 * start. Otherwise Express changes the prototype of every request and response, which gives each its
 * own hidden class: kilobytes per waiting request.
 */
export function messageClasses(
  app: RequestListener,
): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  if (!isExpress(app)) return {}
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request)
  Object.setPrototypeOf(AppResponse.prototype, app.response)
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype })
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse }
}

const isExpress = (app: RequestListener): app is Express => 'request' in app && 'response' in app

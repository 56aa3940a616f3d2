export interface Answer {
  status: number
  contentType: string
  text: string
  json: unknown
  sentRequestId: string
  requestId: unknown
  headers: Record<string, string | string[] | undefined>
}

export type Fields = Record<string, unknown>

export interface Info {
  origin: string
  baseUrl: string
  apiKey: string
  workspace: string
  email: string
  password: string
}

export interface Sent {
  method: string
  /**
   * Encoded path and query, relative to the base URL; a target beginning with `/origin/` is relative to the origin
   * instead.
   */
  target: string
  text?: string | undefined
  headers: Record<string, string | undefined>
}

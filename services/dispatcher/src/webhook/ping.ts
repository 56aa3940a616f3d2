import type { WebhookTestResult } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'

/** Sends one test ping to a webhook's endpoint. Throws as documented at `testWebhook`. */
export type Ping = (webhookId: string, meta: RequestMeta) => Promise<WebhookTestResult>

import {
  type EventOf,
  type EventType,
  eventSchema,
  KpiState,
  type NotificationSeverity,
  PackState,
  type PlatformEvent,
  ScheduledJobState,
} from '@opsplane/contracts'
import { oneLine } from '@opsplane/runtime'
import { z } from 'zod'
import { ownerRightsText } from './owner-rights.js'

/** The text of a notification. */
export interface NotificationText {
  title: string
  /** What happened, and the next steps for the reader. */
  message: string
  severity: NotificationSeverity
  /** Recipients as `user:<id>` and `role:<name>`; default: admins. */
  audience?: string[]
}

type FormatText<Type extends EventType> = (event: EventOf<Type>) => NotificationText | null

/** The notification text for each event type. A formatter returns `null` for an event that needs no attention. */
const textFormatters: { [Type in EventType]?: FormatText<Type> } = {
  'deploy.suspended': deploymentSuspended,
  'webhook.paused': webhookPaused,
  'workflow.deactivated': workflowDeactivated,
  'pack.suspended': packSuspended,
  'kpi.suspended': kpiSuspended,
  'scheduled_job.updated': jobUpdated,
  'workflow.approval_requested': (event) => approvalRequestedText(event, 'needs your decision'),
  'workflow.approval_reminded': (event) => approvalRequestedText(event, 'still needs your decision'),
}

/** The event types that may lead to a notification. */
export const notifiedTypes: readonly string[] = Object.keys(textFormatters)

/** The notification text for an event; `null` if it needs none. Throws `ZodError` if the event violates its schema. */
export function notificationText(event: PlatformEvent): NotificationText | null {
  const type = notifiedTypes.find((notified) => notified === event.type)
  return type === undefined ? null : formatText(type as EventType, event)
}

function formatText<Type extends EventType>(type: Type, event: PlatformEvent): NotificationText | null {
  // The schema of a type yields the event of that type, which TypeScript cannot infer for a type parameter.
  return textFormatters[type]?.(eventSchema(type).parse(event) as EventOf<Type>) ?? null
}

function approvalRequestedText(
  {
    data: { approval },
    resource,
    environment,
  }: Pick<EventOf<'workflow.approval_requested'>, 'data' | 'resource' | 'environment'>,
  needs: string,
): NotificationText {
  const { step, users, roles, dueAt } = approval
  const name = oneLine(resource.displayName)
  const path = `/api/v1/runs/${resource.id}`
  const until = dueAt === null ? '' : ` It expires at ${dueAt}.`
  return {
    severity: 'info',
    title: `"${oneLine(approval.title)}" ${needs}`,
    message:
      `A run of the workflow "${name}" in ${environment} waits for an approval.${until} Look at what it is about at ` +
      `GET ${path}, and decide by POST ${path}/resume with {"step":"${step}","decision":"approve"} or "reject".`,
    audience: [...users.map((id) => `user:${id}`), ...roles.map((role) => `role:${role}`)],
  }
}

function deploymentSuspended(event: EventOf<'deploy.suspended'>): NotificationText | null {
  const { resource, environment, data } = event
  if (data.after === null) return null
  return ownerRightsText({
    ...{ kind: 'app', name: resource.displayName, environment, missing: data.missing },
    effect: 'It shows no data, and nothing has to be deployed again.',
    takeOver: `POST /api/v1/apps/${data.after.appId}/take-over`,
  })
}

const Missing = z.array(z.string()).default([])

function workflowDeactivated(event: EventOf<'workflow.deactivated'>): NotificationText | null {
  const { resource, environment, data } = event
  if (data.reason !== 'owner_rights') return null
  return ownerRightsText({
    ...{ kind: 'workflow', name: resource.displayName, environment, missing: Missing.parse(data.missing) },
    effect: 'Its trigger starts no runs; those that have started go on with what their owner may still do.',
    takeOver: `POST /api/v1/workflows/${resource.id}/activate`,
  })
}

function packSuspended({ resource, environment, data }: EventOf<'pack.suspended'>): NotificationText {
  return ownerRightsText({
    ...{
      kind: 'pack',
      name: resource.displayName,
      environment,
      missing: PackState.parse(data.after).suspendedFor,
    },
    effect: 'Its artifacts do not run.',
    takeOver: `POST /api/v1/sdk/packs/${resource.id}/take-over`,
  })
}

function kpiSuspended({ resource, environment, data }: EventOf<'kpi.suspended'>): NotificationText {
  return ownerRightsText({
    ...{
      kind: 'KPI',
      name: resource.displayName,
      environment,
      missing: KpiState.parse(data.after).suspendedFor,
    },
    effect: 'It is not measured.',
    takeOver: `POST /api/v1/analytics/kpis/${resource.id}/take-over`,
  })
}

function jobUpdated(event: EventOf<'scheduled_job.updated'>): NotificationText | null {
  const { resource, environment, data } = event
  const { suspendedFor } = ScheduledJobState.parse(data.after)
  if (suspendedFor.length === 0 || !data.changes.includes('suspendedFor')) return null
  return ownerRightsText({
    ...{ kind: 'scheduled job', name: resource.displayName, environment, missing: suspendedFor },
    effect: 'It runs at none of its times.',
    takeOver: `POST /api/v1/sdk/scheduled-jobs/${resource.id}/resume`,
  })
}

function webhookPaused({ data, resource, environment }: EventOf<'webhook.paused'>): NotificationText | null {
  const { reason, consecutiveFailures, missing = [], after } = data
  if (reason === 'user') return null
  const name = oneLine(resource.displayName)
  const path = `/api/v1/webhooks/${resource.id}`
  const target = after !== null && URL.canParse(after.url) ? ` to ${new URL(after.url).host}` : ''
  const paused = `Opsplane paused the webhook "${name}"${target} in ${environment}`
  const kept = 'What happens meanwhile is kept as held deliveries'
  const resume = `PATCH ${path} with {"status":"active"}`
  if (reason === 'gone')
    return {
      severity: 'warning',
      title: `Webhook "${name}" was paused: its endpoint is gone`,
      message:
        `${paused}, because the endpoint answered 410 Gone. ${kept}. If the endpoint has moved or is back, correct ` +
        `its URL where needed and send ${resume}: the held deliveries are then sent. If the webhook is not needed ` +
        `any more, DELETE ${path}.`,
    }
  if (reason === 'owner_rights')
    return {
      severity: 'critical',
      title: `Webhook "${name}" was paused: its owner may no longer do what it needs`,
      message:
        `${paused}, because the user it acts for lacks ${missing.join(', ')}. ${kept}. A user with these permissions ` +
        `takes it over by ${resume}: the held deliveries are then sent. If it is not needed any more, DELETE ${path}.`,
    }
  const times = consecutiveFailures === undefined ? 'several' : String(consecutiveFailures)
  return {
    severity: 'critical',
    title: `Webhook "${name}" was paused after ${times} failed deliveries in a row`,
    message:
      `${paused}, because ${times} deliveries in a row failed on every attempt. ${kept}. Find out why at ` +
      `GET ${path}/deliveries?status=failed and fix the endpoint. Then send ${resume}: the held deliveries are ` +
      `then sent. Those that failed are sent again by POST ${path}/deliveries/replay.`,
  }
}

import {
  type EventOf,
  type EventType,
  eventSchema,
  type NotificationSeverity,
  type PlatformEvent,
} from '@opsplane/contracts'
import { oneLine } from '@opsplane/runtime'

/** What a notification tells of an event. */
export interface NotificationText {
  title: string
  /** What happened, and what to do next. */
  message: string
  severity: NotificationSeverity
  /** Whom it is for, as `user:<id>` and `role:<name>`; without: admins. */
  audience?: string[]
}

type Tell<Type extends EventType> = (event: EventOf<Type>) => NotificationText | null

/** Event type to what people are notified with. Null: this one needs nobody's attention. */
const tellings: { [Type in EventType]?: Tell<Type> } = {
  'deploy.suspended': deploymentSuspended,
  'webhook.paused': webhookPaused,
  'workflow.approval_requested': (event) => approvalAsked(event, 'needs your decision'),
  'workflow.approval_reminded': (event) => approvalAsked(event, 'still needs your decision'),
}

/** The event types of which any event may become a notification. */
export const notifiedTypes: readonly string[] = Object.keys(tellings)

/** What people are notified of the event; null when nothing. Throws ZodError when the event breaks its schema. */
export function notificationText(event: PlatformEvent): NotificationText | null {
  const type = notifiedTypes.find((notified) => notified === event.type)
  return type === undefined ? null : tell(type as EventType, event)
}

function tell<Type extends EventType>(type: Type, event: PlatformEvent): NotificationText | null {
  // The schema of a type yields the event of that type, which its own type does not say of a type parameter.
  return tellings[type]?.(eventSchema(type).parse(event) as EventOf<Type>) ?? null
}

function approvalAsked(
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

function deploymentSuspended({
  data: { after, missing },
  resource,
  environment,
}: Pick<EventOf<'deploy.suspended'>, 'data' | 'resource' | 'environment'>): NotificationText | null {
  if (after === null) return null
  const name = oneLine(resource.displayName)
  const path = `/api/v1/apps/${after.appId}`
  return {
    severity: 'critical',
    title: `App "${name}" shows no data: the user whose rights it carries may no longer do what it takes`,
    message:
      `Opsplane suspended the app "${name}" in ${environment}, because the user whose rights its deployment carries lacks ` +
      `${missing.join(', ')}. A user with the permissions of the deployment takes it over by POST ${path}/take-over; ` +
      `nothing has to be deployed again. If the app is not needed any more, DELETE ${path}.`,
  }
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
        `its URL where needed and send ${resume}: the held deliveries are then sent. If nobody needs the webhook ` +
        `any more, DELETE ${path}.`,
    }
  if (reason === 'owner_rights')
    return {
      severity: 'critical',
      title: `Webhook "${name}" was paused: its owner may no longer do what it needs`,
      message:
        `${paused}, because the user it acts for lacks ${missing.join(', ')}. ${kept}. Somebody with these permissions ` +
        `takes it over by ${resume}: the held deliveries are then sent. If nobody needs it any more, DELETE ${path}.`,
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

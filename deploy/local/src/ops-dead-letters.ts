import type { BackendName } from '@opsplane/contracts'
import {
  type DeadLetterDetails,
  type DeadLetterSummary,
  dropDeadLetters,
  listDeadLetters,
  markForRedrive,
  redriveSubject,
  showDeadLetter,
} from '@opsplane/eventstore'
import { delay } from '@opsplane/runtime'
import { findDatabaseUrl } from './data-database.js'
import { OpsError, type Target, withNats } from './ops-target.js'
import { eachService, findSchema, type OpsTask } from './ops-tasks.js'

/** Each service numbers its dead letters separately: this identifies one of them across all services. */
export interface DeadLetterId {
  service: BackendName
  number: number
}

export interface DeadLettersTask extends OpsTask {
  consumer?: string
  /** Restricts to these ids; all dead letters of the services and the consumer if absent. */
  ids?: readonly DeadLetterId[]
}

/** `id` is `<service>:<number>`. */
type Named<Letter> = Omit<Letter, 'id'> & { id: string; service: BackendName }

const nameOf = ({ service, number }: DeadLetterId) => `${service}:${number}`
const withService = <Letter extends { id: number }>(service: BackendName, letter: Letter): Named<Letter> => ({
  ...letter,
  service,
  id: nameOf({ service, number: letter.id }),
})

/** The oldest dead letters of each service. Throws OpsError. */
export async function listAllDeadLetters(
  task: DeadLettersTask & { limit: number },
): Promise<Named<DeadLetterSummary>[]> {
  const lists = await over(task, async (service, target, filter) =>
    (await listDeadLetters(target, { ...filter, limit: task.limit })).map((letter) =>
      withService(service, letter),
    ),
  )
  return lists.flat().slice(0, task.limit)
}

/** Throws OpsError, also if no dead letter has this id. */
export async function readDeadLetter(target: Target, id: DeadLetterId): Promise<Named<DeadLetterDetails>> {
  const [letter] = await over({ target, services: [id.service], ids: [id] }, (_service, place) =>
    showDeadLetter(place, id.number),
  )
  if (!letter) throw new OpsError('refused', `There is no dead letter ${nameOf(id)}.`)
  return withService(id.service, letter)
}

export interface RedriveResult {
  id: string
  consumer: string
  /** `waiting`: no service has picked it up yet; that happens once the service runs. */
  outcome: 'handled' | 'failed' | 'waiting'
  error: string | null
}

/** Redrives dead letters to their consumers, and waits a limited time for the outcome. Throws OpsError. */
export async function redriveDeadLetters(
  task: DeadLettersTask & { waitMs?: number },
): Promise<RedriveResult[]> {
  const letters = (
    await over(task, async (service, target, filter) =>
      (await markForRedrive(target, filter)).map((letter) => withService(service, letter)),
    )
  ).flat()
  task.say?.(`${letters.length} dead letters are to be redriven`)
  if (letters.length === 0) return []
  await hint(task, new Set(letters.map(({ consumer }) => consumer)))

  const ids = letters.map(({ service, id }) => ({ service, number: Number(id.slice(service.length + 1)) }))
  for (const end = performance.now() + (task.waitMs ?? 10_000); ; await delay(100)) {
    const left = new Map(
      (
        await listAllDeadLetters({ target: task.target, services: task.services, ids, limit: ids.length })
      ).map((letter) => [letter.id, letter] as const),
    )
    const waiting = [...left.values()].some(({ redrivenAt }) => redrivenAt !== null)
    if (waiting && performance.now() < end) continue
    return letters.map(({ id, consumer }) => {
      const letter = left.get(id)
      if (!letter) return { id, consumer, outcome: 'handled', error: null }
      const outcome = letter.redrivenAt === null ? 'failed' : 'waiting'
      return { id, consumer, outcome, error: outcome === 'failed' ? letter.error : null }
    })
  }
}

/** Deletes dead letters without handling them. Throws OpsError. */
export function dropAllDeadLetters(
  task: DeadLettersTask,
): Promise<{ service: BackendName; dropped: number }[]> {
  return over(task, async (service, target, filter) => ({
    service,
    dropped: await dropDeadLetters(target, filter),
  }))
}

/** Without this hint services find the marked dead letters within a minute. */
async function hint(task: DeadLettersTask, consumers: ReadonlySet<string>): Promise<void> {
  try {
    const { url, names } = task.target.nats()
    await withNats(url, async (link) => {
      const connection = await link.ready()
      for (const consumer of consumers) connection.publish(redriveSubject(names, consumer))
      await connection.flush()
    })
  } catch (error) {
    if (!(error instanceof OpsError)) throw error
    task.say?.('NATS cannot be reached, so the services find them within a minute')
  }
}

type Filter = { ids?: number[]; consumer?: string }

/** Does the work in each requested service. */
async function over<T>(
  task: DeadLettersTask,
  work: (service: BackendName, target: { databaseUrl: string; schema: string }, filter: Filter) => Promise<T>,
): Promise<T[]> {
  const { target, consumer, ids } = task
  const services = task.services.filter((service) => !ids || ids.some((id) => id.service === service))
  return eachService({ ...task, services }, async (service) =>
    work(
      service,
      { databaseUrl: await findDatabaseUrl(service, target.databaseUrl()), schema: findSchema(service) },
      {
        ...(consumer !== undefined && { consumer }),
        ...(ids && { ids: ids.filter((id) => id.service === service).map(({ number }) => number) }),
      },
    ),
  )
}

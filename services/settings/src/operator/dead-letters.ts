import {
  ApiError,
  type BackendName,
  backendNames,
  type DeadLetter,
  type DeadLetterFilters,
  notFound,
  type Page,
  type ServiceDeadLetter,
} from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { CursorCodec } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { createDeadLetterReport } from './dead-letter-log.js'
import type { OperatedService, OperatedServices } from './operated-services.js'

const Place = z.tuple([z.enum(backendNames), z.int().min(0)])

export interface DeadLetterPage extends DeadLetterFilters {
  limit: number
  after?: string | undefined
  binding: string
}

/** The dead letters of all services, service by service, the oldest of each first. */
export function createDeadLetters(
  ctx: Pick<ServiceContext, 'database' | 'relay'>,
  operated: OperatedServices,
  cursors: CursorCodec,
) {
  const report = createDeadLetterReport(ctx)
  /** Throws `not_found` for an id that refers to no known service. */
  const find = (id: string): [BackendName, OperatedService, number] => {
    const [, service = '', number] = /^([a-z-]+):([1-9]\d{0,14})$/.exec(id) ?? []
    const name = backendNames.find((each) => each === service)
    const found = name && operated.get(name)
    if (!found) throw notFound()
    return [name, found, Number(number)]
  }
  const existing = async (id: string): Promise<[OperatedService, number, DeadLetter]> => {
    const [name, service, number] = find(id)
    const [letter] = await service.deadLetters({ after: number - 1, limit: 1 })
    if (letter?.number !== number) throw notFound()
    return [service, number, shown(name, letter)]
  }

  return {
    /** Throws `invalid_cursor`, and `service_unavailable` naming a service that does not respond. */
    async list({ service, consumer, limit, after, binding }: DeadLetterPage): Promise<Page<DeadLetter>> {
      const names = [...operated.keys()].filter((name) => service === undefined || name === service)
      const [first, number] =
        after === undefined ? [names[0], 0] : Place.parse(cursors.decode(after, binding))
      const found: [BackendName, ServiceDeadLetter][] = []
      for (const name of names.slice(first === undefined ? 0 : names.indexOf(first))) {
        const question = {
          ...{ after: name === first ? number : 0, limit: limit + 1 - found.length },
          ...(consumer !== undefined && { consumer }),
        }
        const letters = await operated.get(name)?.deadLetters(question).catch(away(name))
        found.push(...(letters ?? []).map((letter): [BackendName, ServiceDeadLetter] => [name, letter]))
        if (found.length > limit) break
      }
      const shownRows = found.slice(0, limit)
      const last = found.length > limit ? shownRows.at(-1) : undefined
      return {
        items: shownRows.map(([name, letter]) => shown(name, letter)),
        nextCursor: last ? cursors.encode([last[0], last[1].number], binding) : null,
        limit,
      }
    },

    /** Throws `not_found` and `conflict`. */
    async redrive(id: string, meta: RequestMeta): Promise<DeadLetter> {
      const [service, number, letter] = await existing(id)
      if (letter.consumer === 'relay') throw tooLarge()
      await report('dead_letter.redriven', letter, meta)
      const redrivenLetter = await service.redrive(number)
      if (redrivenLetter === null) throw notFound()
      return shown(letter.service, redrivenLetter)
    },

    /** Throws `not_found`. */
    async drop(id: string, meta: RequestMeta): Promise<void> {
      const [service, number, letter] = await existing(id)
      await report('dead_letter.dropped', letter, meta)
      if (!(await service.drop(number))) throw notFound()
    },
  }
}

const shown = (service: BackendName, { number, ...letter }: ServiceDeadLetter): DeadLetter => ({
  ...{ id: `${service}:${number}`, service },
  ...letter,
})

const tooLarge = () => new ApiError('conflict', 'The event is too large for NATS, and cannot be redriven.')

const away = (service: string) => (cause: unknown) => {
  const message = `${service} does not answer. List the dead letters of the others with \`service\`.`
  throw new ApiError('service_unavailable', message, { cause })
}

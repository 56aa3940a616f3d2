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
import type { CursorCodec } from '@opsplane/runtime'
import { z } from 'zod'
import type { AllOperated, Operated } from './operated.js'

const Place = z.tuple([z.enum(backendNames), z.int().min(0)])

export interface DeadLetterPage extends DeadLetterFilters {
  limit: number
  after?: string | undefined
  binding: string
}

/** What consumers of all services have given up: one service after the other, the oldest of each first. */
export function createDeadLetters(operated: AllOperated, cursors: CursorCodec) {
  /** Throws `not_found` for an id of no service there is. */
  const find = (id: string): [BackendName, Operated, number] => {
    const [, service = '', number] = /^([a-z-]+):([1-9]\d{0,14})$/.exec(id) ?? []
    const name = backendNames.find((each) => each === service)
    const found = name && operated.get(name)
    if (!found) throw notFound()
    return [name, found, Number(number)]
  }

  return {
    /** Throws `invalid_cursor`, and `service_unavailable` naming a service that does not answer. */
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
    async redrive(id: string): Promise<DeadLetter> {
      const [name, service, number] = find(id)
      const letter = await service.redrive(number)
      if (letter === null) throw notFound()
      if (letter.redrivenAt === null) throw tooLarge()
      return shown(name, letter)
    },

    /** Throws `not_found`. */
    async drop(id: string): Promise<void> {
      const [, service, number] = find(id)
      if (!(await service.drop(number))) throw notFound()
    },
  }
}

const shown = (service: BackendName, { number, ...letter }: ServiceDeadLetter): DeadLetter => ({
  ...{ id: `${service}:${number}`, service },
  ...letter,
})

const tooLarge = () =>
  new ApiError('conflict', 'It is too large for NATS, and no consumer can take it up again.')

const away = (service: string) => (cause: unknown) => {
  const message = `${service} does not answer. Those of the others are listed by \`service\`.`
  throw new ApiError('service_unavailable', message, { cause })
}

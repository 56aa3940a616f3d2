import { type Command, InvalidArgumentError, Option } from 'commander'
import type { z } from 'zod'
import type { Api, Call } from './api.js'
import type { Printer } from './print.js'
import { parseDuration, parseInstant } from './time.js'

/** Parses an option value as a duration, in milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined || ms < 1 || ms > 2_147_483_647)
    throw new InvalidArgumentError('a length of time reads like 500ms, 15m or 2h.')
  return ms
}

/** Parses an option value as an instant, returned as ISO text in UTC. */
export const instant = (nowMs: number) => (text: string) => {
  const instant = parseInstant(text, nowMs)
  if (instant !== undefined) return instant
  throw new InvalidArgumentError('a time reads like 2026-01-31T08:00Z, or 15m, 2h, 7d ago.')
}

/** Parses an option value as a positive integer. */
export function count(text: string): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number > 0) return number
  throw new InvalidArgumentError('it has to be a whole number from 1.')
}

/** Option that may be repeated. */
export function repeatableOption(flags: string, description: string, choices?: readonly string[]): Option {
  const option = new Option(flags, `${description} (repeatable)`)
  const add = (value: string, before: string[] | undefined) => [...(before ?? []), value]
  if (!choices) return option.argParser(add)
  return option.choices(choices).argParser((value: string, before: string[] | undefined) => {
    if (choices.includes(value)) return add(value, before)
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`)
  })
}

export interface PagingOptions {
  limit: number
  all?: true
}

const defaultLimit = 50

export function withPaging(command: Command): Command {
  return command
    .option('--limit <n>', 'how many at most', count, defaultLimit)
    .addOption(new Option('--all', 'every one there is').conflicts('limit'))
}

/** Reads the items of a list up to its limit; reports progress for long lists. */
export async function collect<Schema extends z.ZodType>(
  { api, printer }: { api: Api; printer: Printer },
  schema: Schema,
  call: Call,
  { limit, all }: PagingOptions,
): Promise<z.output<Schema>[]> {
  const items: z.output<Schema>[] = []
  for await (const page of api.pages(schema, call, all ? Number.POSITIVE_INFINITY : limit)) {
    items.push(...page)
    if (items.length % manyItems === 0 && items.length > 0) printer.say(`${items.length} so far`)
  }
  return items
}

const manyItems = 2_000

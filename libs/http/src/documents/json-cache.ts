import { stringifyExact } from '@opsplane/contracts'

const written = new WeakMap<object, Buffer>()

/**
 * Caches the JSON of an immutable value. Responses whose `data` is such a value, or a list that
 * starts with one, are assembled from cached bytes.
 */
export function cacheJson<T extends object>(value: T): T {
  written.set(value, Buffer.from(stringifyExact(value)))
  return value
}

/** The bytes of a response whose `data` is cached; `undefined` for all others, which is the usual case. */
export function readCachedJson(body: object): Buffer | undefined {
  const data = (body as { data?: unknown }).data
  const [first] = Array.isArray(data) ? data : [data]
  if (typeof first !== 'object' || first === null || !written.has(first)) return undefined
  const { data: _, ...rest } = body as { data: unknown }
  const end = Buffer.from(`,${stringifyExact(rest).slice(1)}`)
  if (!Array.isArray(data)) return Buffer.concat([Buffer.from('{"data":'), bytesOf(first), end])
  const items = data.flatMap((item: object) => [comma, bytesOf(item)]).slice(1)
  return Buffer.concat([Buffer.from('{"data":['), ...items, Buffer.from(']'), end])
}

const comma = Buffer.from(',')

const bytesOf = (value: object): Buffer => written.get(value) ?? Buffer.from(stringifyExact(value))

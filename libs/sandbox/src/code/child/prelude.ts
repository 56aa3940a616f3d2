import { entryBytes } from '../protocol.js'

/**
 * Runs first in every context: makes `console` and `host`, and gives back how to start the code and to answer its calls. It
 * keeps the intrinsics it uses, as whatever runs afterwards may change them. `send` is the only way out, and nobody else has it.
 */
const source = `(function (send, functions, context, bounds) {
  'use strict'
  const { parse, stringify } = JSON
  const limits = parse(bounds)
  const { freeze, defineProperty, create } = Object
  const { apply } = Reflect
  const ErrorClass = Error, PromiseClass = Promise, MapClass = Map, StringOf = String
  const bound = (method) => Function.prototype.call.bind(method)
  const slice = bound(String.prototype.slice), split = bound(String.prototype.split)
  const get = bound(Map.prototype.get), set = bound(Map.prototype.set), remove = bound(Map.prototype.delete)

  class HostError extends ErrorClass {
    constructor({ code, message, details }) {
      super(message)
      this.code = code
      this.details = details
    }
  }
  defineProperty(HostError.prototype, 'name', { value: 'HostError', writable: true, configurable: true })
  defineProperty(globalThis, 'HostError', { value: HostError, writable: true, configurable: true })

  // Logs.
  let logLeft = limits.logBytes
  let truncated = false
  const log = (level, message, data) => {
    if (logLeft <= 0 || truncated) {
      if (!truncated) { truncated = true; send('log', level, '""', 'null', true) }
      return
    }
    let json = 'null'
    try { json = (data === undefined ? undefined : stringify(data)) ?? 'null' } catch {}
    let text = message
    if (text.length + json.length + ${entryBytes} > logLeft) {
      truncated = true
      json = 'null'
      text = slice(text, 0, logLeft > ${entryBytes} ? logLeft - ${entryBytes} : 0)
    }
    logLeft -= text.length + json.length + ${entryBytes}
    send('log', level, stringify(text), json, truncated)
  }
  const shown = (value) => {
    if (typeof value === 'string') return value
    try {
      if (value instanceof ErrorClass) return describe(value).stack
      if (typeof value === 'object' && value !== null) return stringify(value) ?? StringOf(value)
      return StringOf(value)
    } catch {
      return '[cannot be shown]'
    }
  }
  const writer = (level) => (...values) => {
    let text = ''
    for (let at = 0; at < values.length; at += 1) text += (at > 0 ? ' ' : '') + shown(values[at])
    log(level, text)
  }
  const console = {
    debug: writer('debug'), trace: writer('debug'), log: writer('info'), info: writer('info'),
    warn: writer('warn'), error: writer('error'),
  }
  defineProperty(globalThis, 'console', { value: console, writable: true, configurable: true })
  const entry = (level) => (message, data) => log(level, shown(message), data)
  const hostLog = entry('info')
  hostLog.debug = entry('debug'); hostLog.info = entry('info'); hostLog.warn = entry('warn'); hostLog.error = entry('error')

  // Calls of the host, of which so many are under way at once.
  const calls = new MapClass()
  let [last, made, underWay, first, lastWaiting] = [0, 0, 0, 0, 0]
  const waiting = new MapClass()
  const next = () => {
    while (underWay < limits.hostCallsAtOnce && first < lastWaiting) {
      first += 1
      const call = get(waiting, first)
      remove(waiting, first)
      underWay += 1
      last += 1
      set(calls, last, call)
      send('call', last, call.name, call.args)
    }
  }
  const refused = (code, message) => new HostError({ code, message, details: null })
  const caller = (name) => (...args) => new PromiseClass((resolve, reject) => {
    made += 1
    if (made > limits.hostCalls) return void send('exceeded', limits.hostCalls)
    const json = stringify(args)
    if (json.length > limits.outputBytes) return void reject(refused('too_large', name + ': the arguments are longer than ' + limits.outputBytes + ' bytes'))
    lastWaiting += 1
    set(waiting, lastWaiting, { name, args: json, resolve, reject })
    next()
  })
  const host = create(null)
  host.log = hostLog
  host.context = parse(context)
  for (const name of parse(functions)) {
    const path = split(name, '.')
    let at = host
    for (let depth = 0; depth < path.length - 1; depth += 1) at = at[path[depth]] ??= create(null)
    at[path[path.length - 1]] = caller(name)
  }
  for (const key in host) if (typeof host[key] === 'object' && host[key] !== null) freeze(host[key])
  freeze(host)

  // What was thrown may be anything, with getters of any kind.
  const textOf = (value, most) => {
    try { return slice(typeof value === 'string' ? value : StringOf(value), 0, most) } catch { return '' }
  }
  const read = (value, key) => {
    try { return value[key] } catch { return undefined }
  }
  const describe = (thrown) => {
    if (typeof thrown !== 'object' || thrown === null) {
      const message = typeof thrown === 'function' ? 'a function was thrown' : textOf(thrown, 4000)
      return { name: '', raw: message, message, stack: message }
    }
    const name = textOf(read(thrown, 'name') ?? 'Error', 100)
    const message = textOf(read(thrown, 'message') ?? '', 4000)
    const lines = textOf(read(thrown, 'stack') ?? '', 8000)
    const head = name === '' || name === 'Error' ? message : message === '' ? name : name + ': ' + message
    return { name, raw: message, message: head, stack: head + (lines === '' ? '' : '\\n' + lines) }
  }
  const fail = (thrown) => {
    const { name, raw, message, stack } = describe(thrown)
    send('failed', name === 'InternalError' ? raw : '', stringify(message), stringify(stack))
  }

  return {
    async start(module, name, args) {
      try {
        const exports = await module
        const run = exports[name]
        if (typeof run !== 'function') throw new TypeError('the code has no function exported as "' + name + '"')
        const value = await apply(run, undefined, [...parse(args), host])
        let json
        try { json = stringify(value) ?? 'null' } catch (error) {
          return void send('invalid', stringify(describe(error).message))
        }
        send('completed', json)
      } catch (thrown) {
        fail(thrown)
      }
    },
    fail,
    answer(id, ok, json) {
      const call = get(calls, id)
      remove(calls, id)
      underWay -= 1
      if (ok) call.resolve(parse(json))
      else call.reject(new HostError(parse(json)))
      next()
    },
  }
})`

/** Without what is for people only, as it is read for each invocation. */
export const prelude = source.replace(/^\s+(\/\/.*)?/gm, '')

/** What code imports from `@opsplane/sdk`. */
export const sdkModule = `export const artifact = (run) => run
export const HostError = globalThis.HostError
`

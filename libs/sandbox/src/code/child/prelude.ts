import { entryBytes, trackingFunction } from '../protocol.js'

/**
 * Runs first in every context: creates `console` and `host`, and returns functions that start the code and answer its
 * calls. It saves the intrinsics it uses, because later code may change them. Only the prelude has `send`, the only way
 * out.
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
  const each = bound(Map.prototype.forEach), then = bound(Promise.prototype.then)
  const stateOf = bound(WeakMap.prototype.get), setState = bound(WeakMap.prototype.set)

  class HostError extends ErrorClass {
    constructor({ code, message, details }) {
      super(message)
      this.code = code
      this.details = details
    }
  }
  defineProperty(HostError.prototype, 'name', { value: 'HostError', writable: true, configurable: true })
  defineProperty(globalThis, 'HostError', { value: HostError, writable: true, configurable: true })

  // QuickJS does not report unhandled rejections: promises of this class do.
  const states = new WeakMap()
  const unhandled = new MapClass()
  const failing = (state, refuse) => (reason) => {
    state.reason = reason
    if (!state.handled) set(unhandled, state, state)
    refuse(reason)
  }
  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function'
  // What it is resolved with may be rejected later: that passes through here as well.
  const settling = (state, settle, refuse) => (value) => {
    let follow
    try { follow = isObject(value) ? value.then : undefined } catch (error) { return failing(state, refuse)(error) }
    if (typeof follow !== 'function') return settle(value)
    settle({ then: (done, failed) => settleOnce((...acts) => apply(follow, value, acts), settling(state, done, failed), failing(state, failed)) })
  }
  // Gives 'run' two functions, of which the first call counts; what it throws is a call of the second.
  const settleOnce = (run, settle, fail) => {
    let over = false
    const once = (act) => (value) => { if (!over) { over = true; act(value) } }
    const failed = once(fail)
    try { run(once(settle), failed) } catch (error) { failed(error) }
  }
  class Tracked extends PromiseClass {
    constructor(executor) {
      if (typeof executor !== 'function') throw new TypeError('a promise is made with a function')
      const state = { handled: false, reason: undefined }
      super((settle, refuse) => settleOnce(executor, settling(state, settle, refuse), failing(state, refuse)))
      setState(states, this, state)
    }
    then(done, failed) {
      const state = stateOf(states, this)
      if (state) { state.handled = true; remove(unhandled, state) }
      return then(this, done, failed)
    }
    static [Symbol.hasInstance](value) { return this === Tracked ? isPromise(value) : isInstance(this, value) }
  }
  const isInstance = bound(Function.prototype[Symbol.hasInstance])
  const isPromise = (value) => isInstance(PromiseClass, value)
  defineProperty(Tracked, 'name', { value: 'Promise' })
  defineProperty(globalThis, 'Promise', { value: Tracked, writable: true, configurable: true })
  // Of an asynchronous function, whose promise is the engine's own.
  defineProperty(globalThis, '${trackingFunction}', { value: (promise) => new Tracked((resolve) => resolve(promise)) })

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

  // Host calls, of which a limited number run concurrently.
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
  const caller = (name) => (...args) => new Tracked((resolve, reject) => {
    const { stack } = new ErrorClass()
    made += 1
    if (made > limits.hostCalls) return void send('exceeded', limits.hostCalls)
    const json = stringify(args)
    if (json.length > limits.outputBytes) return void reject(refused('too_large', name + ': the arguments are longer than ' + limits.outputBytes + ' bytes'))
    lastWaiting += 1
    set(waiting, lastWaiting, { name, args: json, stack, resolve, reject })
    next()
  })
  const host = create(null)
  host.log = hostLog
  host.context = parse(context)
  const refusing = (message) => () => new Tracked((resolve, reject) => reject(refused('not_permitted', message)))
  for (const name of Object.keys(limits.refused ?? {}))
    defineProperty(host, name, { value: refusing(limits.refused[name]) })
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
  const describe = (thrown, depth = 0) => {
    if (!isObject(thrown) || typeof thrown === 'function') {
      const message = typeof thrown === 'function' ? 'a function was thrown' : textOf(thrown, 4000)
      return { name: '', raw: message, message, stack: message, thrown: null }
    }
    const name = textOf(read(thrown, 'name') ?? 'Error', 100)
    const message = textOf(read(thrown, 'message') ?? '', 4000)
    const lines = textOf(read(thrown, 'stack') ?? '', 8000)
    const head = name === '' || name === 'Error' ? message : message === '' ? name : name + ': ' + message
    const code = read(thrown, 'code'), reason = read(thrown, 'cause')
    const cause = reason === undefined || depth === 4 ? null : describe(reason, depth + 1)
    const stack = head + (lines === '' ? '' : '\\n' + lines) + (cause ? '\\nCaused by: ' + cause.stack : '')
    return {
      name, raw: message, message: head, stack: slice(stack, 0, 12000),
      thrown: {
        name, code: typeof code === 'string' || typeof code === 'number' ? textOf(code, 100) : null,
        cause: cause && slice(cause.message, 0, 1000),
      },
    }
  }
  const fail = (thrown) => {
    const { name, raw, message, stack, thrown: seen } = describe(thrown)
    send('failed', name === 'InternalError' ? raw : '', stringify(message), stringify(stack), stringify(seen))
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
        send('returned', json)
      } catch (thrown) {
        fail(thrown)
      }
    },
    fail,
    // Once there is nothing left to do.
    finish() {
      let one
      each(unhandled, (state) => { one ??= state })
      if (!one) return void send('completed')
      const { message, stack, thrown } = describe(one.reason)
      send('unhandled', stringify(message), stringify(stack), stringify(thrown))
    },
    answer(id, ok, json) {
      const call = get(calls, id)
      remove(calls, id)
      underWay -= 1
      if (ok) call.resolve(parse(json))
      else call.reject(defineProperty(new HostError(parse(json)), 'stack', { value: call.stack, writable: true, configurable: true }))
      next()
    },
  }
})`

/** Without indentation and comments, because it is parsed for each guest. */
export const prelude = source.replace(/^\s+(\/\/.*)?/gm, '')

/** The module `@opsplane/sdk`, as code imports it. */
export const sdkModule = `export const artifact = (run) => run
export const HostError = globalThis.HostError
`

import { setFlagsFromString } from 'node:v8'
import { answerRequests } from '../answering.js'
import { check } from './check.js'
import { evaluate } from './evaluate.js'
import { parseRequest } from './request.js'

// A child of `createExpressions`.
// Regular expressions that backtrack excessively switch to a linear-time engine, if V8 has one.
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks')

// A rejected promise inside JSONata that is no longer awaited must not end the process.
process.on('unhandledRejection', () => {})

answerRequests(async (text, onPart) => {
  const request = parseRequest(text)
  return request.op === 'check' ? check(request.expressions, onPart) : evaluate(request, onPart)
})

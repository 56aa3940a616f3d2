import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from '@jest/globals'
import express from 'express'
import { messageClasses } from './message-classes.js'

it('message classes are the request and response prototypes of Express', async () => {
  const app = express()
  app.get('/:name', (req, res) => {
    res.status(202).json({ name: req.params.name, ip: req.ip })
  })
  const server = createServer(messageClasses(app), app)
  const prototypes: unknown[] = []
  server.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    prototypes.push(Object.getPrototypeOf(req), Object.getPrototypeOf(res))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/ada`)
    expect(response.status).toBe(202)
    expect(await response.json()).toEqual({ name: 'ada', ip: '127.0.0.1' })
    expect(prototypes).toHaveLength(2)
    expect(prototypes[0]).toBe(app.request)
    expect(prototypes[1]).toBe(app.response)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

it('message classes are those of Node for a listener that is not an Express app', () => {
  expect(messageClasses(() => {})).toEqual({})
})

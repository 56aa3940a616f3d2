import { createIncidentsEvenly } from '../load.js'

/*
 * Independent clients that create incidents at an even rate, in a separate process, so that its garbage collection
 * is not measured as another client's latency. LOAD is the argument of `createIncidentsEvenly` as JSON. A message
 * starts the load; the reply is sent once all incidents are accepted, and contains the failure if there was one.
 */
const { LOAD: load = '' } = process.env

process.on('message', async () => {
  const failure = await createIncidentsEvenly(JSON.parse(load)).then(() => null, String)
  process.send?.({ failure })
})
process.send?.({ port: 0 })
// The parent process has ended.
process.on('disconnect', () => process.exit())

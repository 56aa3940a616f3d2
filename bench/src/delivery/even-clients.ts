import { createIncidentsEvenly } from '../load.js'

/*
 * Independent clients that create incidents at an even rate, in a process of their own, so that its garbage is not measured as
 * another client's latency. LOAD is what `createIncidentsEvenly` takes, as JSON; a message starts it, and is answered once all incidents
 * are accepted, with the failure if there was one.
 */
const { LOAD: load = '' } = process.env

process.on('message', async () => {
  const failure = await createIncidentsEvenly(JSON.parse(load)).then(() => null, String)
  process.send?.({ failure })
})
process.send?.({ port: 0 })
// The parent process has ended.
process.on('disconnect', () => process.exit())

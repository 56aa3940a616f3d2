// Asks the service in this container whether it is alive: exit code 0 or 1. An argument is another path, such as /readyz.
// Plain JavaScript on Node's own modules, as it is started every few seconds.
import { readFileSync } from 'node:fs'
import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'

const [path = '/healthz'] = process.argv.slice(2)
const { PORT = '8080', INTERNAL_TLS_CERT_FILE: certFile, INTERNAL_TLS_KEY_FILE: keyFile } = process.env
const isTls = Boolean(certFile && keyFile) && process.env.OPSPLANE_PLAIN_PORT !== 'true'
const url = `${isTls ? 'https' : 'http'}://127.0.0.1:${PORT}${path}`
// It is this container's own service, whatever name its certificate has.
const own = () => ({ cert: readFileSync(certFile), key: readFileSync(keyFile), rejectUnauthorized: false })
const request = isTls
  ? getHttps(url, { ...own(), timeout: 4_000 }, answered)
  : getHttp(url, { timeout: 4_000 }, answered)
request.on('timeout', () => request.destroy(new Error('no answer in 4 s')))
request.on('error', ({ message }) => failed(message))

function answered(response) {
  response.resume()
  if (response.statusCode !== 200) failed(`${path} answered ${response.statusCode}`)
}

function failed(reason) {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}

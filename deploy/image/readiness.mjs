// Whether an installation is whole, for `helm test`: its gateway says that every service answers, and serves the API's document.
// Plain JavaScript on Node's own modules. The argument is the address of the gateway.
const [origin] = process.argv.slice(2)
const get = async (path) => {
  const response = await fetch(new URL(path, origin), { signal: AbortSignal.timeout(20_000) })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 500)}`)
  return JSON.parse(text)
}
const { data } = await get('/readyz')
process.stdout.write(`${JSON.stringify(data.checks)}\n`)
const { paths } = await get('/api/v1/openapi.json')
if (Object.keys(paths).length === 0) throw new Error('The document of the API has no paths.')
process.stdout.write(`${Object.keys(paths).length} paths\n`)

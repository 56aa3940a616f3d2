export { type Zone, zoneOf } from '@opsplane/runtime'

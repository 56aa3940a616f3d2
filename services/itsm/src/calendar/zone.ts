export { instantIn, type Zone, zoneOf } from '@opsplane/runtime'

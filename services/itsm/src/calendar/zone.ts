export { findZone, instantIn, type Zone } from '@opsplane/runtime'

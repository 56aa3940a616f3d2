export { artifacts, artifactVersions } from './artifact/tables.js'
export { packInstallations, packs } from './pack/tables.js'

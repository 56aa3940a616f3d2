export * from './installation.js'
export * from './move-roles.js'
export * from './record.js'
export * from './role-marks.js'

export {
  type At,
  findSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  type ScheduleOwner,
  type ScheduleStatus,
  upsertSchedule,
} from './store.js'
export { dueSchedules, scheduleFires, schedules } from './tables.js'
export { type ScheduleRow, type ScheduleWorkOptions, scheduleWork } from './worker.js'
